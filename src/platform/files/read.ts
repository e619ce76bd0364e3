import { closeSync, constants, fstatSync, openSync, read, readSync, type BigIntStats } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { FileFacts, OpenFile } from "./file-access.ts"
import type { ContentCache } from "./content-cache.ts"
import { factsOf } from "./facts.ts"
import {
  isFolderFailure,
  fileNotFoundFailure,
  failureOfRefusal,
  specialFileFailure,
  readLimitFailure,
} from "./file-failures.ts"
import {
  checkConfirmed,
  allowedAbsolutePath,
  withResolvedPath,
  type ResolvedPath,
  type FileRoots,
} from "./resolve-path.ts"

export interface ReadContext extends FileRoots {
  readonly contents: ContentCache
}

/** An open regular file. */
export interface OpenDescriptor {
  readonly descriptor: number
  readonly stat: BigIntStats
  readonly real: string
}

/** Opens a regular file inside the file roots. Never opens a pipe or device, which could block or act on opening. */
export function openToRead(roots: FileRoots, path: string): OpenDescriptor {
  return (
    openDirectly(roots, path) ??
    withResolvedPath(roots, path, { use: "read", follow: true }, (resolved) => openResolved(resolved, path))
  )
}

export function readSmall(
  roots: ReadContext,
  path: string,
  maxBytes: number,
): { bytes: Buffer; facts: FileFacts } | undefined {
  const { descriptor, stat, real } = openToRead(roots, path)
  try {
    if (stat.size > maxBytes) return undefined
    const bytes = roots.contents.get(stat) ?? readAndKeep(roots.contents, descriptor, stat, maxBytes)
    return bytes && { bytes, facts: factsOf(stat, real, roots.pathPolicy.displayPath(real)) }
  } finally {
    closeSync(descriptor)
  }
}

function readAndKeep(
  contents: ContentCache,
  descriptor: number,
  stat: BigIntStats,
  maxBytes: number,
): Buffer | undefined {
  const keep = contents.reading(descriptor, stat)
  const bytes = readUpTo(descriptor, Number(stat.size), maxBytes)
  if (bytes !== undefined) keep(bytes)
  return bytes
}

export function openFile(roots: ReadContext, path: string): OpenFile {
  const { descriptor, stat, real } = openToRead(roots, path)
  const facts = factsOf(stat, real, roots.pathPolicy.displayPath(real))
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
      if (facts.size > limit) throw readLimitFailure(path, facts.size, limit)
      if (!isOpen) throw new Error(`${path} is closed`)
      // It may have changed since it was opened.
      const now = fstatSync(descriptor, { bigint: true })
      const known = now.size > limit ? undefined : roots.contents.get(now)
      if (known !== undefined) return known
      const keep = roots.contents.reading(descriptor, now)
      const bytes = await readAll(readAt, facts.size, limit, path)
      if (isOpen) keep(bytes)
      return bytes
    },
    async close() {
      if (isOpen) closeSync(descriptor)
      isOpen = false
    },
  }
}

const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** Opens without a stat first, since most names are plain files. Undefined if the slower way is needed. */
function openDirectly(roots: FileRoots, path: string): OpenDescriptor | undefined {
  const { pathPolicy, opener } = roots
  const absolute = allowedAbsolutePath(pathPolicy, path, "read")
  if (pathPolicy.isRoot(absolute)) return undefined
  let folder
  try {
    folder = opener.open(dirname(absolute))
  } catch {
    return undefined
  }
  try {
    const name = basename(absolute)
    const real = join(folder.real, name)
    if (real !== absolute) {
      const refusal = pathPolicy.refusal(real, "read", path)
      if (refusal !== undefined) throw failureOfRefusal(refusal)
      checkConfirmed(pathPolicy, absolute, real, path, "read")
    } else if (!pathPolicy.contains(real)) return undefined
    return openResolved({ folder, name, real, found: undefined }, path, true)
  } finally {
    folder.close()
  }
}

/** With `attempt`, a system error returns undefined: the slower way then finds the sentence for it. */
function openResolved(resolved: ResolvedPath, path: string, attempt: true): OpenDescriptor | undefined
function openResolved(resolved: ResolvedPath, path: string): OpenDescriptor
function openResolved(
  { folder, name, real, found }: ResolvedPath,
  path: string,
  attempt = false,
): OpenDescriptor | undefined {
  if (name === undefined || found?.isDirectory()) throw isFolderFailure(path)
  if (found !== undefined && !found.isFile()) throw specialFileFailure(path)
  if (found === undefined && !attempt) throw fileNotFoundFailure(path)
  let descriptor
  try {
    descriptor = openSync(folder.at(name), flags)
  } catch (error) {
    if (attempt) return undefined
    throw error
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true })
    if (stat.isDirectory()) throw isFolderFailure(path)
    if (!stat.isFile()) throw specialFileFailure(path)
    folder.verify(name, descriptor)
    return { descriptor, stat, real }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Reads the whole file; undefined when it has grown beyond `maxBytes`. */
function readUpTo(descriptor: number, size: number, maxBytes: number): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(size + 1)
  for (let length = 0; ;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    length += count
    // A regular file returns fewer bytes than asked for only at its end.
    if (length < buffer.length) return buffer.subarray(0, length)
    if (length > maxBytes) return undefined
    buffer = Buffer.concat([buffer], Math.min(length * 2, maxBytes + 1))
  }
}

async function readAll(readAt: OpenFile["read"], size: number, limit: number, path: string): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(size + 1)
  for (let length = 0; ;) {
    const count = await readAt(buffer.subarray(length), length)
    length += count
    if (count === 0) return buffer.subarray(0, length)
    if (length > limit) throw readLimitFailure(path, length, limit)
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, limit + 1))
  }
}
