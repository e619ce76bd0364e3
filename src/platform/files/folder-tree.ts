import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, ftruncateSync, futimesSync, lstatSync, mkdirSync, openSync, read, readdirSync,
  readlinkSync, rmdirSync, statSync, symlinkSync, unlinkSync, write, type BigIntStats,
} from "node:fs" // prettier-ignore
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import { decodeName } from "../../lib/byte-names.ts"
import type { FolderOpener, FolderHandle } from "./folder-handle.ts"
import { fileFailure, specialFileFailure } from "./file-failures.ts"

/** A name in an open folder. */
export interface EntryLocation {
  readonly folder: FolderHandle
  readonly name: string
}

/** Copies a file, link or folder with its content to a free name. Links are copied, not followed. */
export async function copyTree(
  opener: FolderOpener,
  from: EntryLocation,
  to: EntryLocation,
  path: string,
  depth = 0,
): Promise<void> {
  const found = lstatSync(from.folder.at(from.name), { bigint: true })
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from.folder.at(from.name), "buffer"), to.folder.at(to.name)) // prettier-ignore
  if (!found.isDirectory()) return copyFile(from, to, path, found)
  await yieldTurn(depth, path)
  mkdirSync(to.folder.at(to.name), { mode: 0o700 })
  const source = opener.openIn(from.folder, from.name)
  const target = openSecond(() => opener.openIn(to.folder, to.name), source)
  try {
    const attributes = statSync(source.self, { bigint: true })
    for (const [index, name] of entryNames(source).entries()) {
      if (index % 100 === 99) await yieldTurn(depth, path)
      await copyTree(opener, { folder: source, name }, { folder: target, name }, `${path}/${name}`, depth + 1)
    }
    withDescriptor(`${target.self}/.`, constants.O_RDONLY, 0, (descriptor) => copyAttributes(descriptor, attributes))
  } finally {
    source.close()
    target.close()
  }
}

/** Removes a file, link or folder with its content. Links are removed, not followed. */
export async function removeTree(opener: FolderOpener, { folder, name }: EntryLocation): Promise<void> {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) return unlinkSync(folder.at(name))
  const inner = opener.openIn(folder, name)
  try {
    for (const [index, child] of entryNames(inner).entries()) {
      if (index % 100 === 0) await setImmediate()
      await removeTree(opener, { folder: inner, name: child })
    }
  } finally {
    inner.close()
  }
  rmdirSync(folder.at(name))
}

/** The bytes of all files in it. Undefined if there are more than `maxEntries`, or some cannot be read. */
export async function treeSize(
  opener: FolderOpener,
  entry: EntryLocation,
  maxEntries = Infinity,
): Promise<number | undefined> {
  let left = maxEntries
  const count = async ({ folder, name }: EntryLocation, depth: number): Promise<number> => {
    const found = lstatSync(folder.at(name))
    if (!found.isDirectory()) return found.size
    await yieldTurn(depth, name)
    const inner = opener.openIn(folder, name)
    try {
      let sum = 0
      for (const child of entryNames(inner)) {
        if (--left < 0) throw new Error("There are too many entries.")
        if (left % 100 === 0) await setImmediate()
        sum += await count({ folder: inner, name: child }, depth + 1)
      }
      return sum
    } finally {
      inner.close()
    }
  }
  try {
    return await count(entry, 0)
  } catch {
    return undefined
  }
}

/** The names in a folder, including those that are not UTF-8. */
export function entryNames({ self }: FolderHandle): string[] {
  return readdirSync(self, { encoding: "buffer" }).map(decodeName)
}

/** Lets other work run. Refuses depths at which descriptors would run out. */
async function yieldTurn(depth: number, path: string): Promise<void> {
  checkDepth(depth, path)
  await setImmediate()
}

const maxDepth = 250

function checkDepth(depth: number, path: string): void {
  if (depth >= maxDepth) throw fileFailure("too_large", `'${path.slice(0, 80)}…' has folders nested more than ${maxDepth} deep. Ask a person to remove them.`) // prettier-ignore
}

const readInto = promisify(read)
const writeFrom = promisify(write)
const noFollow = constants.O_NOFOLLOW ?? 0
const zeros = Buffer.alloc(1024 * 1024)

async function copyFile(from: EntryLocation, to: EntryLocation, path: string, found: BigIntStats): Promise<void> {
  if (!found.isFile()) throw specialFileFailure(path)
  const source = openSync(from.folder.at(from.name), constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(source, { bigint: true })
    if (!stat.isFile()) throw specialFileFailure(path)
    from.folder.verify(from.name, source)
    const target = openSync(to.folder.at(to.name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600) // prettier-ignore
    try {
      to.folder.verify(to.name, target)
      await copyBytes(source, target)
      copyAttributes(target, stat)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

/** Skips blocks of zeros, so that a sparse file stays sparse. */
async function copyBytes(source: number, target: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  for (let at = 0; ;) {
    const { bytesRead } = await readInto(source, buffer, 0, buffer.length, null)
    if (bytesRead === 0) return ftruncateSync(target, at)
    if (!zeros.subarray(0, bytesRead).equals(buffer.subarray(0, bytesRead)))
      for (let done = 0; done < bytesRead;)
        done += (await writeFrom(target, buffer, done, bytesRead - done, at + done)).bytesWritten
    at += bytesRead
  }
}

function copyAttributes(descriptor: number, { uid, gid, mode, atimeNs, mtimeNs }: BigIntStats): void {
  try {
    fchownSync(descriptor, Number(uid), Number(gid))
    fchmodSync(descriptor, Number(mode & 0o7777n))
  } catch {
    fchmodSync(descriptor, Number(mode & 0o777n))
  }
  futimesSync(descriptor, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9)
}

function withDescriptor(path: string, flags: number, mode: number, work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, mode)
  try {
    work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Opens the second folder; if that fails, closes the first. */
function openSecond(open: () => FolderHandle, first: FolderHandle): FolderHandle {
  try {
    return open()
  } catch (error) {
    first.close()
    throw error
  }
}
