import { randomBytes } from "node:crypto"
import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, fsyncSync, ftruncateSync, linkSync, lstatSync, openSync,
  renameSync, unlinkSync, writeSync, type BigIntStats, type PathLike,
} from "node:fs" // prettier-ignore
import type { WriteOptions, WriteResult } from "./file-access.ts"
import { writeBackup } from "./backups.ts"
import { factsOf, versionOf } from "./facts.ts"
import type { FolderHandle } from "./folder-handle.ts"
import { isFolderFailure, fileFailure, specialFileFailure } from "./file-failures.ts"
import type { DataFolderAccess } from "./data-folder.ts"
import { withResolvedPath, type ResolvedPath, type FileRoots } from "./resolve-path.ts"

export interface WriteContext extends FileRoots, DataFolderAccess {
  /** The number of backups to keep when the caller gives none. */
  readonly backups: number
  /** Calls fsync after each write. */
  readonly syncToDisk: boolean
}

/** Synchronous, so that no other call of this process comes between the check and the write. */
export function write(context: WriteContext, path: string, bytes: Uint8Array, options: WriteOptions): WriteResult {
  return withResolvedPath(context, path, { use: "write", follow: true, createFolders: true }, (resolved) => {
    const target = targetOf(resolved, path)
    checkExpected(target.found, options.expected, path)
    const appends = options.append === true && target.found !== undefined
    // An append leaves the earlier content in place, so it needs no backup.
    const backup = backUp(context, target, path, options.backups ?? (appends ? 0 : context.backups))
    const change = appends ? append : replace
    const stat = change(context, target, path, bytes, options.expected)
    const facts = factsOf(stat, target.real, context.pathPolicy.displayPath(target.real))
    return { created: target.found === undefined, bytesWritten: bytes.length, facts, backup }
  })
}

interface Target {
  readonly folder: FolderHandle
  readonly name: string
  readonly real: string
  readonly found: BigIntStats | undefined
}

/** A free name, or a regular file without other hard links. */
function targetOf({ folder, name, real, found }: ResolvedPath, path: string): Target {
  if (name === undefined || found?.isDirectory()) throw isFolderFailure(path)
  checkRegular(found, path)
  return { folder, name, real, found }
}

function checkRegular(found: BigIntStats | undefined, path: string): void {
  if (found === undefined) return
  if (!found.isFile()) throw specialFileFailure(path)
  if (found.nlink > 1n)
    throw fileFailure("linked", `'${path}' has ${found.nlink} hard links, so a change would show under all of these names. Write to another path, or ask a person.`) // prettier-ignore
}

function checkExpected(found: BigIntStats | undefined, expected: WriteOptions["expected"], path: string): void {
  if (expected === undefined) return
  if (expected === null && found !== undefined)
    throw fileFailure("exists", `'${path}' exists already. Read it and change it, or choose another name.`)
  if (expected !== null && (found === undefined || versionOf(found) !== expected)) throw changed(path)
}

function changed(path: string): Error {
  return fileFailure("file_changed", `'${path}' has changed since it was read. Read it again, then repeat the change.`)
}

const noFollow = constants.O_NOFOLLOW ?? 0
const noBlock = constants.O_NONBLOCK ?? 0

function backUp(
  context: WriteContext,
  { folder, name, real, found }: Target,
  path: string,
  keep: number,
): string | undefined {
  if (found === undefined || keep <= 0) return undefined
  return withDescriptor(folder.at(name), constants.O_RDONLY | noFollow | noBlock, 0, (descriptor) => {
    if (!fstatSync(descriptor).isFile()) throw specialFileFailure(path)
    folder.verify(name, descriptor)
    return writeBackup(context, real, descriptor, keep)
  })
}

/** Writes a temporary file beside the target, then renames it over the target. */
function replace(
  context: WriteContext,
  target: Target,
  path: string,
  bytes: Uint8Array,
  expected: WriteOptions["expected"],
): BigIntStats {
  // prettier-ignore
  const { folder, name, found } = target
  const temporary = `.${name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
  let isTemporary = true
  try {
    return withDescriptor(folder.at(temporary), flags, found === undefined ? 0o666 : 0o600, (descriptor) => {
      folder.verify(temporary, descriptor)
      writeAll(descriptor, bytes)
      if (found !== undefined) copyRights(descriptor, found)
      if (context.syncToDisk) fsyncSync(descriptor)
      folder.verify(temporary, descriptor)
      putInPlace(folder, temporary, name, path, expected)
      isTemporary = false
      return fstatSync(descriptor, { bigint: true })
    })
  } finally {
    if (isTemporary) removeQuietly(folder.at(temporary))
  }
}

/** Checks one last time, then gives the new file its name. With `expected: null` it takes the name only if it is free. */
function putInPlace(
  folder: FolderHandle,
  temporary: string,
  name: string,
  path: string,
  expected: WriteOptions["expected"],
): void {
  // prettier-ignore
  const now = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
  if (now?.isDirectory()) throw isFolderFailure(path)
  checkExpected(now, expected, path)
  if (expected === null && takeName(folder, temporary, name, path)) return
  renameSync(folder.at(temporary), folder.at(name))
}

/** Returns false where the disk has no hard links. */
function takeName(folder: FolderHandle, temporary: string, name: string, path: string): boolean {
  try {
    linkSync(folder.at(temporary), folder.at(name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") throw fileFailure("exists", `'${path}' exists already. Read it and change it, or choose another name.`) // prettier-ignore
    return false
  }
  unlinkSync(folder.at(temporary))
  return true
}

/** Appends all bytes, or truncates the file to its earlier size when that fails. */
function append(
  context: WriteContext,
  { folder, name }: Target,
  path: string,
  bytes: Uint8Array,
  expected: WriteOptions["expected"],
): BigIntStats {
  // prettier-ignore
  const flags = constants.O_WRONLY | constants.O_APPEND | noFollow | noBlock
  return withDescriptor(folder.at(name), flags, 0, (descriptor) => {
    const stat = fstatSync(descriptor, { bigint: true })
    checkRegular(stat, path)
    folder.verify(name, descriptor)
    checkExpected(stat, expected, path)
    try {
      writeAll(descriptor, bytes)
    } catch (error) {
      ftruncateSync(descriptor, Number(stat.size))
      throw error
    }
    if (context.syncToDisk) fsyncSync(descriptor)
    return fstatSync(descriptor, { bigint: true })
  })
}

/** Sets the owner before the mode, because changing the owner clears the setuid and setgid bits. */
function copyRights(descriptor: number, { uid, gid, mode }: BigIntStats): void {
  const now = fstatSync(descriptor, { bigint: true })
  let hasOwner = true
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(descriptor, Number(uid), Number(gid))
    } catch {
      hasOwner = false
    }
  }
  fchmodSync(descriptor, Number(mode & (hasOwner ? 0o7777n : 0o777n)))
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done, bytes.length - done)
}

function withDescriptor<T>(path: PathLike, flags: number, mode: number, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags, mode)
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function removeQuietly(path: PathLike): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never created, or is already gone.
  }
}
