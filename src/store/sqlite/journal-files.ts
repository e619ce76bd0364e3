import { closeSync, readdirSync, readSync, unlinkSync } from "node:fs"
import { wholeFramesLength } from "./frames.ts"
import { openOwnFile } from "./data-file.ts"

/** Bytes read at once, unless a frame is larger. */
const chunkSize = 4 * 1024 * 1024

/** The ids of the journals that have files. */
export function listJournals(dir: string): string[] {
  return [...new Set(namesIn(dir).flatMap((name) => /^([0-9a-f-]{36})\.\d+\.log$/.exec(name)?.[1] ?? []))].sort()
}

/** The files of one journal, in the order they were written. */
export function listJournalFiles(dir: string, uuid: string): string[] {
  return namesIn(dir)
    .filter((name) => name.startsWith(`${uuid}.`))
    .sort()
}

/** Reads whole frames from an offset on. Lines without a seal yet are left out. */
export function readFrames(file: string, offset: number): { text: string; bytes: number; atEnd: boolean } {
  const descriptor = openOwnFile(file)
  try {
    for (let size = chunkSize; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size)
      const length = readSync(descriptor, buffer, 0, size, offset)
      const written = lengthBeforeZeros(buffer.subarray(0, length))
      const read = buffer.toString("utf8", 0, written)
      const whole = wholeFramesLength(read)
      const atEnd = written < size
      // The frame is larger than the chunk, so a larger chunk is read.
      if (whole === 0 && !atEnd) continue
      const text = read.slice(0, whole)
      return { text, bytes: Buffer.byteLength(text), atEnd }
    }
  } finally {
    closeSync(descriptor)
  }
}

/** A journal file may be longer than its content. The unused part is zeros, which no line contains. */
export function lengthBeforeZeros(bytes: Buffer): number {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes.length : end
}

/** Removes a file that another process may already have removed. */
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
