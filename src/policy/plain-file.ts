import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"

export interface PlainReading {
  /** More bytes than this are not read. */
  readonly most: number
  /** Whether a link at the end of the path is followed. */
  readonly follows?: boolean
}

/**
 * The text of a file that others may be changing. Throws for anything but a plain file, with the system's code `EISDIR` for
 * a folder: a pipe put there meanwhile would keep the whole house waiting. Throws for one that is too large, too.
 */
export function readPlain(path: string | Buffer, { most, follows = false }: PlainReading): string {
  const descriptor = openSync(path, constants.O_RDONLY | noBlock | (follows ? 0 : noFollow))
  try {
    const found = fstatSync(descriptor)
    if (found.isDirectory()) throw Object.assign(new Error("It is a folder."), { code: "EISDIR" })
    if (!found.isFile()) throw new Error("It is no plain file.")
    if (found.size > most) throw new Error("It is too large.")
    return readUpTo(descriptor, most).toString("utf8")
  } finally {
    closeSync(descriptor)
  }
}

const noBlock = constants.O_NONBLOCK ?? 0
const noFollow = constants.O_NOFOLLOW ?? 0

/** It may grow while it is read, and some files say that they are empty and are not. */
function readUpTo(descriptor: number, most: number): Buffer {
  const pieces: Buffer[] = []
  for (let size = 0; ;) {
    const piece = Buffer.allocUnsafe(64 * 1024)
    const count = readSync(descriptor, piece, 0, piece.length, null)
    if (count === 0) return Buffer.concat(pieces)
    size += count
    if (size > most) throw new Error("It is too large.")
    pieces.push(piece.subarray(0, count))
  }
}
