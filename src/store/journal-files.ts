import { closeSync, readdirSync, readSync, unlinkSync } from "node:fs"
import { wholeFrames } from "./frames.ts"
import { openPlain } from "./plain-file.ts"

/** The most that is read at once, unless a frame is larger. */
const chunk = 4 * 1024 * 1024

/** The names of the journals that have files. */
export function journalsIn(dir: string): string[] {
  return [...new Set(namesIn(dir).flatMap((name) => /^([0-9a-f-]{36})\.\d+\.log$/.exec(name)?.[1] ?? []))].sort()
}

/** The files of one journal, in the order they were written. */
export function filesOf(dir: string, uuid: string): string[] {
  return namesIn(dir)
    .filter((name) => name.startsWith(`${uuid}.`))
    .sort()
}

/** Whole frames from an offset on. What has no seal yet stays where it is. */
export function readFrames(file: string, offset: number): { text: string; bytes: number; atEnd: boolean } {
  const descriptor = openPlain(file)
  try {
    for (let size = chunk; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size)
      const length = readSync(descriptor, buffer, 0, size, offset)
      const written = writtenOf(buffer.subarray(0, length))
      const read = buffer.toString("utf8", 0, written)
      const whole = wholeFrames(read)
      const atEnd = written < size
      // A frame larger than the chunk: look at more of it.
      if (whole === 0 && !atEnd) continue
      const text = read.slice(0, whole)
      return { text, bytes: Buffer.byteLength(text), atEnd }
    }
  } finally {
    closeSync(descriptor)
  }
}

/** A journal may be longer than what is written in it; the rest is zeros, which no line has. */
export function writtenOf(bytes: Buffer): number {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes.length : end
}

/** Removes a file; another process may have been faster. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}
