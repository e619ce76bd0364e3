import { join } from "node:path"
import { ToolFailure } from "../../core/ending.ts"
import type { FileFacts, Files, OpenFile } from "../../platform/files/file-access.ts"
import type { SearchRoot } from "./search-root.ts"

/** A part of a text, and its offset in the text. */
export interface TextPart {
  readonly bytes: Buffer
  readonly start: number
}

/** Reads the lines between two offsets, and a number of lines around them. */
export type ReadTextAround = (
  from: number,
  to: number,
  lines: { before: number; after: number },
) => Promise<TextPart | undefined>

/**
 * Opens a file's text as ripgrep reads it for the time of `work`; undefined if that fails. It is read through `files`,
 * because a file may have been replaced by a link since ripgrep opened it.
 */
export async function withFileText<T>(
  files: Files,
  file: string,
  root: SearchRoot,
  work: (around: ReadTextAround) => Promise<T>,
): Promise<T | undefined> {
  const isSame = ({ kind, real }: FileFacts) => kind === "file" && real === join(root.cwd, root.printedOf(file))
  try {
    const small = files.readSmall(file, maxWholeBytes)
    if (small !== undefined) {
      const whole = { bytes: decoded(small.bytes), start: 0 }
      return isSame(small.facts) ? await work(() => Promise.resolve(whole)) : undefined
    }
    const open = await files.open(file)
    try {
      const around = isSame(open) ? await partsOf(open) : undefined
      return around && (await work(around))
    } finally {
      await open.close()
    }
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}

/** Of larger files only the needed parts are read. */
const maxWholeBytes = 1024 * 1024

function decoded(bytes: Buffer): Buffer {
  if (isUtf8Mark(bytes)) return bytes.subarray(3)
  if (!isUtf16Mark(bytes)) return bytes
  return Buffer.from(new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes), "utf8")
}

/** The distance in which line ends are looked for, at first and at most. */
const firstReach = 64 * 1024
const maxReach = 16 * 1024 * 1024

/** Undefined for UTF-16: ripgrep decoded it, so its offsets do not fit the file. */
async function partsOf(open: OpenFile): Promise<ReadTextAround | undefined> {
  const head = Buffer.alloc(3)
  await open.read(head, 0)
  if (isUtf16Mark(head)) return undefined
  const mark = isUtf8Mark(head) ? 3 : 0
  const size = open.size - mark
  let part: TextPart = { bytes: Buffer.alloc(0), start: 0 }
  return async (from, to, { before, after }) => {
    const isEnough = ({ bytes, start }: TextPart) =>
      start <= from && to <= start + bytes.length &&
      (start === 0 || hasBreaks(bytes.subarray(0, from - start), before + 1)) &&
      (start + bytes.length === size || hasBreaks(bytes.subarray(Math.max(from, to - 1) - start), after + 1)) // prettier-ignore
    for (let reach = firstReach; !isEnough(part); reach *= 4) {
      if (reach > maxReach) return undefined
      const start = Math.max(0, from - reach)
      part = { bytes: await readPart(open, start + mark, Math.min(size, to + reach) - start), start }
    }
    return part
  }
}

async function readPart(open: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, length))
  return bytes.subarray(0, await open.read(bytes, position))
}

function hasBreaks(bytes: Buffer, wanted: number): boolean {
  let at = -1
  for (let count = 0; count < wanted; count++) {
    at = bytes.indexOf(10, at + 1)
    if (at === -1) return false
  }
  return true
}

function isUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function isUtf16Mark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
}
