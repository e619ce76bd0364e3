import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, ftruncateSync, futimesSync, lstatSync, mkdirSync, openSync, read, readdirSync,
  readlinkSync, rmdirSync, statSync, symlinkSync, unlinkSync, write, type BigIntStats,
} from "node:fs" // prettier-ignore
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import { textOf } from "../processes/byte-names.ts"
import type { Doors, Folder } from "./folder.ts"
import { refused, specialFile } from "./refused.ts"

/** A name in a held folder. */
export interface Spot {
  readonly folder: Folder
  readonly name: string
}

/** How a file is given another place; `path` is for sentences. */
export type GiveFile = (from: Spot, to: Spot, path: string, found: BigIntStats) => void | Promise<void>

/** Copies a file, link or folder with all that is in it to a name that is free. Links are copied, not followed. */
export async function copyTree(
  doors: Doors,
  from: Spot,
  to: Spot,
  path: string,
  give: GiveFile = copyFile,
  depth = 0,
): Promise<void> {
  const found = lstatSync(from.folder.at(from.name), { bigint: true })
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from.folder.at(from.name), "buffer"), to.folder.at(to.name)) // prettier-ignore
  if (!found.isDirectory()) return give(from, to, path, found)
  await turn(depth, path)
  mkdirSync(to.folder.at(to.name), { mode: 0o700 })
  const source = doors.openIn(from.folder, from.name)
  const target = opened(() => doors.openIn(to.folder, to.name), source)
  try {
    const looks = statSync(source.self, { bigint: true })
    for (const [index, name] of namesIn(source).entries()) {
      if (index % 100 === 99) await turn(depth, path)
      await copyTree(doors, { folder: source, name }, { folder: target, name }, `${path}/${name}`, give, depth + 1)
    }
    withDescriptor(`${target.self}/.`, constants.O_RDONLY, 0, (descriptor) => keepLooks(descriptor, looks))
  } finally {
    source.close()
    target.close()
  }
}

/** Removes a file, link or folder with all that is in it. Links are removed, not followed. */
export async function removeTree(doors: Doors, { folder, name }: Spot): Promise<void> {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) return unlinkSync(folder.at(name))
  const inner = doors.openIn(folder, name)
  try {
    for (const [index, one] of namesIn(inner).entries()) {
      if (index % 100 === 0) await setImmediate()
      await removeTree(doors, { folder: inner, name: one })
    }
  } finally {
    inner.close()
  }
  rmdirSync(folder.at(name))
}

/** The bytes of all files in it. */
export function sizeOf(doors: Doors, { folder, name }: Spot, depth = 0): number {
  const found = lstatSync(folder.at(name))
  if (!found.isDirectory()) return found.size
  checkDepth(depth, name)
  const inner = doors.openIn(folder, name)
  try {
    return namesIn(inner).reduce((sum, one) => sum + sizeOf(doors, { folder: inner, name: one }, depth + 1), 0)
  } finally {
    inner.close()
  }
}

/** What is in a folder, also names that are no UTF-8. */
export function namesIn({ self }: Folder): string[] {
  return readdirSync(self, { encoding: "buffer" }).map(textOf)
}

/** Lets others have their turn, and goes no deeper than descriptors reach. */
export async function turn(depth: number, path: string): Promise<void> {
  checkDepth(depth, path)
  await setImmediate()
}

const mostDeep = 250

function checkDepth(depth: number, path: string): void {
  if (depth >= mostDeep) throw refused("too_large", `'${path.slice(0, 80)}…' has folders in folders more than ${mostDeep} deep. Ask a person to remove them.`) // prettier-ignore
}

const readInto = promisify(read)
const writeFrom = promisify(write)
const noFollow = constants.O_NOFOLLOW ?? 0
const zeros = Buffer.alloc(1024 * 1024)

export async function copyFile(from: Spot, to: Spot, path: string, found: BigIntStats): Promise<void> {
  if (!found.isFile()) throw specialFile(path)
  const source = openSync(from.folder.at(from.name), constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(source, { bigint: true })
    if (!stat.isFile()) throw specialFile(path)
    from.folder.sure(from.name, source)
    const target = openSync(to.folder.at(to.name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600) // prettier-ignore
    try {
      to.folder.sure(to.name, target)
      await copyBytes(source, target)
      keepLooks(target, stat)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

/** Where nothing but zeros is, nothing is written: a file that is long and takes up no room stays so. */
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

function keepLooks(descriptor: number, { uid, gid, mode, atimeNs, mtimeNs }: BigIntStats): void {
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

/** What is opened already is closed when the next cannot be. */
function opened(open: () => Folder, before: Folder): Folder {
  try {
    return open()
  } catch (error) {
    before.close()
    throw error
  }
}
