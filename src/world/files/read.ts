import { closeSync, constants, fstatSync, openSync, read, readSync, type BigIntStats } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { FileFacts, OpenFile } from "../../model/files.ts"
import { factsOf } from "./facts.ts"
import { isFolder, notFound, refusedBy, specialFile, tooLarge } from "./refused.ts"
import { checkCareful, placeNamed, standing, type Standing, type Yard } from "./stand.ts"

/** A regular file that is open, and what it is. */
export interface Opened {
  readonly descriptor: number
  readonly stat: BigIntStats
  readonly real: string
}

/** Opens a regular file inside the fence; nothing that could wait or act when it is opened. */
export function openToRead(yard: Yard, path: string): Opened {
  return openDirectly(yard, path) ?? standing(yard, path, { use: "read", follow: true }, (here) => openHere(here, path))
}

export function readSmall(yard: Yard, path: string, most: number): { bytes: Buffer; facts: FileFacts } | undefined {
  const { descriptor, stat, real } = openToRead(yard, path)
  try {
    if (stat.size > most) return undefined
    const bytes = readUpTo(descriptor, Number(stat.size), most)
    return bytes && { bytes, facts: factsOf(stat, real, yard.ground.shown(real)) }
  } finally {
    closeSync(descriptor)
  }
}

export function openFile(yard: Yard, path: string): OpenFile {
  const { descriptor, stat, real } = openToRead(yard, path)
  const facts = factsOf(stat, real, yard.ground.shown(real))
  let isOpen = true
  const readAt = (buffer: Uint8Array, position: number) =>
    new Promise<number>((done, fail) => {
      if (!isOpen) return fail(new Error(`${path} is closed`))
      read(descriptor, buffer, 0, buffer.length, position, (error, count) => (error ? fail(error) : done(count)))
    })
  return {
    ...facts,
    read: readAt,
    async readAll(limit) {
      if (facts.size > limit) throw tooLarge(path, facts.size, limit)
      return readAll(readAt, facts.size, limit, path)
    },
    async close() {
      if (isOpen) closeSync(descriptor)
      isOpen = false
    },
  }
}

const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** Without looking first: most names are of files. Undefined when the name is a link, or something is in the way. */
function openDirectly(yard: Yard, path: string): Opened | undefined {
  const { ground, doors } = yard
  const place = placeNamed(ground, path, "read")
  if (ground.isRoot(place)) return undefined
  let folder
  try {
    folder = doors.open(dirname(place))
  } catch {
    return undefined
  }
  try {
    const name = basename(place)
    const real = join(folder.real, name)
    if (real !== place) {
      const refusal = ground.refusal(real, "read", path)
      if (refusal !== undefined) throw refusedBy(refusal)
      checkCareful(ground, place, real, path, "read")
    } else if (!ground.holds(real)) return undefined
    return openHere({ folder, name, real, found: undefined }, path, true)
  } finally {
    folder.close()
  }
}

/** `attempt` leaves what the system says to the slower way, which says it in words. */
function openHere(here: Standing, path: string, attempt: true): Opened | undefined
function openHere(here: Standing, path: string): Opened
function openHere({ folder, name, real, found }: Standing, path: string, attempt = false): Opened | undefined {
  if (name === undefined || found?.isDirectory()) throw isFolder(path)
  if (found !== undefined && !found.isFile()) throw specialFile(path)
  if (found === undefined && !attempt) throw notFound(path)
  let descriptor
  try {
    descriptor = openSync(folder.at(name), flags)
  } catch (error) {
    if (attempt) return undefined
    throw error
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true })
    if (stat.isDirectory()) throw isFolder(path)
    if (!stat.isFile()) throw specialFile(path)
    folder.sure(name, descriptor)
    return { descriptor, stat, real }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** All there is; undefined when it has grown beyond `most`. */
function readUpTo(descriptor: number, size: number, most: number): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(size + 1)
  for (let length = 0; ;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    length += count
    // Of a regular file less is read only where it ends.
    if (length < buffer.length) return buffer.subarray(0, length)
    if (length > most) return undefined
    buffer = Buffer.concat([buffer], Math.min(length * 2, most + 1))
  }
}

async function readAll(readAt: OpenFile["read"], size: number, limit: number, path: string): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(size + 1)
  for (let length = 0; ;) {
    const count = await readAt(buffer.subarray(length), length)
    length += count
    if (count === 0) return buffer.subarray(0, length)
    if (length > limit) throw tooLarge(path, length, limit)
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, limit + 1))
  }
}
