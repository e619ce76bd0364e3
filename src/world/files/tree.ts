import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, futimesSync, lstatSync, mkdirSync, openSync, read, readdirSync,
  readlinkSync, rmdirSync, symlinkSync, unlinkSync, write, type BigIntStats,
} from "node:fs" // prettier-ignore
import { promisify } from "node:util"
import type { Doors, Folder } from "./folder.ts"
import { specialFile } from "./refused.ts"

/** A name in a held folder. */
export interface Spot {
  readonly folder: Folder
  readonly name: string
}

/** Copies a file, link or folder with all that is in it to a name that is free. Links are copied, not followed. */
export async function copyTree(doors: Doors, from: Spot, to: Spot, path: string): Promise<void> {
  const found = lstatSync(from.folder.at(from.name), { bigint: true })
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from.folder.at(from.name)), to.folder.at(to.name))
  if (found.isFile()) return copyFile(from, to, path)
  if (!found.isDirectory()) throw specialFile(path)
  mkdirSync(to.folder.at(to.name), { mode: 0o700 })
  const source = doors.openIn(from.folder, from.name)
  const target = opened(() => doors.openIn(to.folder, to.name), source)
  try {
    for (const name of readdirSync(source.self)) await copyTree(doors, { folder: source, name }, { folder: target, name }, `${path}/${name}`) // prettier-ignore
    withDescriptor(`${target.self}/.`, constants.O_RDONLY, 0, (descriptor) => keepLooks(descriptor, found))
  } finally {
    source.close()
    target.close()
  }
}

/** Removes a file, link or folder with all that is in it. Links are removed, not followed. */
export function removeTree(doors: Doors, { folder, name }: Spot): void {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) return unlinkSync(folder.at(name))
  const inner = doors.openIn(folder, name)
  try {
    for (const one of readdirSync(inner.self)) removeTree(doors, { folder: inner, name: one })
  } finally {
    inner.close()
  }
  rmdirSync(folder.at(name))
}

/** The bytes of all files in it. */
export function sizeOf(doors: Doors, { folder, name }: Spot): number {
  const found = lstatSync(folder.at(name))
  if (!found.isDirectory()) return found.size
  const inner = doors.openIn(folder, name)
  try {
    return readdirSync(inner.self).reduce((sum, one) => sum + sizeOf(doors, { folder: inner, name: one }), 0)
  } finally {
    inner.close()
  }
}

const readInto = promisify(read)
const writeFrom = promisify(write)
const noFollow = constants.O_NOFOLLOW ?? 0

async function copyFile(from: Spot, to: Spot, path: string): Promise<void> {
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

async function copyBytes(source: number, target: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  for (;;) {
    const { bytesRead } = await readInto(source, buffer, 0, buffer.length, null)
    if (bytesRead === 0) return
    for (let done = 0; done < bytesRead;) done += (await writeFrom(target, buffer, done, bytesRead - done)).bytesWritten
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
