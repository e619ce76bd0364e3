import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"

export interface ReadRegularFileOptions {
  /** Throws for a larger file. */
  readonly maxBytes: number
  /** True if a link at the end of the path is followed; false when left out. */
  readonly followLinks?: boolean
}

/**
 * Reads a text file that others may be changing. Throws for anything but a regular file, with the code `EISDIR` for a
 * folder: reading a pipe would block the whole process.
 */
export function readRegularFile(path: string | Buffer, reading: ReadRegularFileOptions): string {
  return readRegularFileBytes(path, reading).toString("utf8")
}

/** The same as bytes. */
export function readRegularFileBytes(
  path: string | Buffer,
  { maxBytes, followLinks = false }: ReadRegularFileOptions,
): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | noBlock | (followLinks ? 0 : noFollow))
  try {
    const found = fstatSync(descriptor)
    if (found.isDirectory()) throw Object.assign(new Error("It is a folder."), { code: "EISDIR" })
    if (!found.isFile()) throw new Error("It is not a regular file.")
    if (found.size > maxBytes) throw new Error("It is too large.")
    return readUpTo(descriptor, maxBytes)
  } finally {
    closeSync(descriptor)
  }
}

const noBlock = constants.O_NONBLOCK ?? 0
const noFollow = constants.O_NOFOLLOW ?? 0

/** Counts while reading: the file may grow meanwhile, and kernel files report a size of 0. */
function readUpTo(descriptor: number, maxBytes: number): Buffer {
  const pieces: Buffer[] = []
  for (let size = 0; ;) {
    const piece = Buffer.allocUnsafe(64 * 1024)
    const count = readSync(descriptor, piece, 0, piece.length, null)
    if (count === 0) return Buffer.concat(pieces)
    size += count
    if (size > maxBytes) throw new Error("It is too large.")
    pieces.push(piece.subarray(0, count))
  }
}
