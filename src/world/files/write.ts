import { randomBytes } from "node:crypto"
import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, fsyncSync, ftruncateSync, linkSync, lstatSync, openSync,
  renameSync, unlinkSync, writeSync, type BigIntStats, type PathLike,
} from "node:fs" // prettier-ignore
import type { WriteOptions, Written } from "../../model/files.ts"
import { keepBackup } from "./backups.ts"
import { factsOf, versionOf } from "./facts.ts"
import type { Folder } from "./folder.ts"
import { isFolder, refused, specialFile } from "./refused.ts"
import type { Own } from "./own.ts"
import { standing, type Standing, type Yard } from "./stand.ts"

export interface WriteHouse extends Yard, Own {
  /** How many earlier versions are kept where the caller does not say. */
  readonly backups: number
  /** Waits until the disk has it. */
  readonly synced: boolean
}

/** The whole of it happens in one turn, so that no other call of this process comes between looking and writing. */
export function write(house: WriteHouse, path: string, bytes: Uint8Array, options: WriteOptions): Written {
  return standing(house, path, { use: "write", follow: true, make: true }, (here) => {
    const target = targetOf(here, path)
    checkExpected(target.found, options.expected, path)
    const appends = options.append === true && target.found !== undefined
    // What was there before is still there after an append.
    const backup = backUp(house, target, path, options.backups ?? (appends ? 0 : house.backups))
    const change = appends ? append : replace
    const stat = change(house, target, path, bytes, options.expected)
    const facts = factsOf(stat, target.real, house.ground.shown(target.real))
    return { created: target.found === undefined, bytesWritten: bytes.length, facts, backup }
  })
}

interface Target {
  readonly folder: Folder
  readonly name: string
  readonly real: string
  readonly found: BigIntStats | undefined
}

/** A name for a file, or a regular file that has no other name. */
function targetOf({ folder, name, real, found }: Standing, path: string): Target {
  if (name === undefined || found?.isDirectory()) throw isFolder(path)
  checkRegular(found, path)
  return { folder, name, real, found }
}

function checkRegular(found: BigIntStats | undefined, path: string): void {
  if (found === undefined) return
  if (!found.isFile()) throw specialFile(path)
  if (found.nlink > 1n)
    throw refused("linked", `'${path}' has ${found.nlink} names, and a change would show under all of them. Write to another path, or ask a person.`) // prettier-ignore
}

function checkExpected(found: BigIntStats | undefined, expected: WriteOptions["expected"], path: string): void {
  if (expected === undefined) return
  if (expected === null && found !== undefined)
    throw refused("exists", `'${path}' exists already. Read it and change it, or choose another name.`)
  if (expected !== null && (found === undefined || versionOf(found) !== expected)) throw changed(path)
}

function changed(path: string): Error {
  return refused("file_changed", `'${path}' is not as it was when it was read. Read it again, then repeat the change.`)
}

const noFollow = constants.O_NOFOLLOW ?? 0
const noBlock = constants.O_NONBLOCK ?? 0

function backUp(
  house: WriteHouse,
  { folder, name, real, found }: Target,
  path: string,
  most: number,
): string | undefined {
  if (found === undefined || most <= 0) return undefined
  return withDescriptor(folder.at(name), constants.O_RDONLY | noFollow | noBlock, 0, (descriptor) => {
    if (!fstatSync(descriptor).isFile()) throw specialFile(path)
    folder.sure(name, descriptor)
    return keepBackup(house, real, descriptor, most)
  })
}

/** To a new file beside it, which then takes its name. */
function replace(
  house: WriteHouse,
  target: Target,
  path: string,
  bytes: Uint8Array,
  expected: WriteOptions["expected"],
): BigIntStats {
  // prettier-ignore
  const { folder, name, found } = target
  const temporary = `.${name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
  let stays = true
  try {
    return withDescriptor(folder.at(temporary), flags, found === undefined ? 0o666 : 0o600, (descriptor) => {
      folder.sure(temporary, descriptor)
      writeAll(descriptor, bytes)
      if (found !== undefined) keepRights(descriptor, found)
      if (house.synced) fsyncSync(descriptor)
      folder.sure(temporary, descriptor)
      putInPlace(folder, temporary, name, path, expected)
      stays = false
      return fstatSync(descriptor, { bigint: true })
    })
  } finally {
    if (stays) removeQuietly(folder.at(temporary))
  }
}

/** Looks a last time, then gives the new file its name. Where nothing may be there, the name is only taken if it is free. */
function putInPlace(
  folder: Folder,
  temporary: string,
  name: string,
  path: string,
  expected: WriteOptions["expected"],
): void {
  // prettier-ignore
  const now = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
  if (now?.isDirectory()) throw isFolder(path)
  checkExpected(now, expected, path)
  if (expected === null && takeName(folder, temporary, name, path)) return
  renameSync(folder.at(temporary), folder.at(name))
}

/** False where the disk has no second names. */
function takeName(folder: Folder, temporary: string, name: string, path: string): boolean {
  try {
    linkSync(folder.at(temporary), folder.at(name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") throw refused("exists", `'${path}' exists already. Read it and change it, or choose another name.`) // prettier-ignore
    return false
  }
  unlinkSync(folder.at(temporary))
  return true
}

/** In one piece at the end of the file; what could not be written whole is taken away again. */
function append(
  house: WriteHouse,
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
    folder.sure(name, descriptor)
    checkExpected(stat, expected, path)
    try {
      writeAll(descriptor, bytes)
    } catch (error) {
      ftruncateSync(descriptor, Number(stat.size))
      throw error
    }
    if (house.synced) fsyncSync(descriptor)
    return fstatSync(descriptor, { bigint: true })
  })
}

/** Owner first, since that takes away the bits that run a file as its owner. */
function keepRights(descriptor: number, { uid, gid, mode }: BigIntStats): void {
  const now = fstatSync(descriptor, { bigint: true })
  let kept = true
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(descriptor, Number(uid), Number(gid))
    } catch {
      kept = false
    }
  }
  fchmodSync(descriptor, Number(mode & (kept ? 0o7777n : 0o777n)))
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
    // It was never made, or is gone.
  }
}
