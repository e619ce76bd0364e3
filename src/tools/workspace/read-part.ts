import type { OpenFile } from "../../platform/files/file-access.ts"

/** Some lines of a file that is too large to read as a whole. */
export interface FilePart {
  readonly bytes: Buffer
  /** The number of its first line, if known. */
  readonly startLine?: number
  /** The number of lines of the file, if it was read to its end. */
  readonly totalLines?: number
  readonly lines: number
  /** True if there are more lines in the direction of reading. */
  readonly more: boolean
  /** True if the lines are longer than the limit and were cut. */
  readonly cut: boolean
}

/** The ends of lines: these bytes, aligned to their length from `start`. */
export interface LineEnding {
  readonly separator: Buffer
  readonly start: number
}

/** The most bytes to return, and how many to read at once. */
export interface FilePartLimits {
  readonly most: number
  readonly signal: AbortSignal
  /** A multiple of four. */
  readonly block?: number
}

const blockSize = 1024 * 1024
const firstBlockFromEnd = 64 * 1024

/** The lines from `offset` on. Earlier lines are only counted. */
export async function readLinesFrom(
  file: OpenFile,
  ends: LineEnding,
  { offset, limit, most, signal, block: size = blockSize }: FilePartLimits & { offset: number; limit: number },
): Promise<FilePart> {
  const kept: Buffer[] = []
  let keptBytes = 0
  let line = 1
  let begun = offset === 1
  let cut = false
  let more = false
  const last = offset + limit
  for await (const { block, position } of blocksOf(file, ends.start, size, signal)) {
    let at = 0
    if (!begun) {
      const skipped = skipLines(block, position, ends, 0, offset - line)
      line += skipped.lines
      at = skipped.at
      begun = line === offset
      if (!begun) continue
    }
    const taken = skipLines(block, position, ends, at, last - line)
    line += taken.lines
    const end = line === last ? taken.at : block.length
    const room = most - keptBytes
    cut = end - at > room
    kept.push(Buffer.from(block.subarray(at, cut ? at + room : end)))
    keptBytes += Math.min(room, end - at)
    more = line === last && position + end < file.size
    if (cut || line === last) break
  }
  const bytes = Buffer.concat(kept)
  const seen = line - (endsLine(bytes, ends) || bytes.length === 0 ? 1 : 0)
  const lines = begun ? seen - offset + 1 : 0
  const totalLines = more || cut ? undefined : begun ? seen : await countedTo(line, file, ends)
  return { bytes, startLine: offset, totalLines, lines, more: more || cut, cut }
}

/** The last lines, read backwards from the end. */
export async function readLastLines(
  file: OpenFile,
  ends: LineEnding,
  { tail, most, signal, block: first = firstBlockFromEnd }: FilePartLimits & { tail: number },
): Promise<FilePart> {
  const width = ends.separator.length
  const end = file.size - ((file.size - ends.start) % width)
  const blocks: Buffer[] = []
  let left = tail
  let start = end
  let found = false
  for (let size = first; start > ends.start && !found && end - start < most; size = Math.min(blockSize, size * 2)) {
    signal.throwIfAborted()
    const from = Math.max(ends.start, start - size)
    const block = await readExactly(file, from, start - from)
    // The ending of the last line does not start another line.
    const skipped = skipLinesBack(block, from, ends, start === end ? block.length - width : block.length, left)
    left -= skipped.lines
    found = left === 0
    blocks.unshift(found ? block.subarray(skipped.at) : block)
    start = found ? from + skipped.at : from
  }
  const bytes = Buffer.concat(blocks)
  const cut = !found && start > ends.start
  return { bytes, lines: tail - left + (found || bytes.length === 0 ? 0 : 1), more: start > ends.start, cut }
}

/** The blocks of a file. The next one is read while the caller works on the last. */
async function* blocksOf(file: OpenFile, start: number, size: number, signal: AbortSignal) {
  const buffers = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] as const
  let position = start
  let turn = 0
  let next = readFully(file, buffers[0], position)
  try {
    for (;;) {
      const length = await next
      signal.throwIfAborted()
      if (length === 0) return
      const block = buffers[turn % 2]!.subarray(0, length)
      const here = position
      position += length
      turn++
      next = length < size ? Promise.resolve(0) : readFully(file, buffers[turn % 2]!, position)
      yield { block, position: here }
    }
  } finally {
    // A file must not be closed while it is being read.
    await next.catch(() => 0)
  }
}

/** Skips up to `most` line endings; `at` is after the last skipped one. */
function skipLines(block: Buffer, position: number, { separator, start }: LineEnding, from: number, most: number) {
  const width = separator.length
  const wanted = width === 1 ? separator[0]! : separator
  let lines = 0
  let at = from
  let look = from
  while (lines < most) {
    const found = block.indexOf(wanted, look)
    if (found === -1) break
    look = found + 1
    if (width > 1 && (position + found - start) % width !== 0) continue
    at = look = found + width
    lines++
  }
  return { lines, at }
}

/** The same from the end; `at` is after the last ending that was found. */
function skipLinesBack(
  block: Buffer,
  position: number,
  { separator, start }: LineEnding,
  before: number,
  most: number,
) {
  const width = separator.length
  let lines = 0
  let at = before
  let look = before
  while (lines < most && look > 0) {
    const found = block.lastIndexOf(separator, look - 1)
    if (found === -1) break
    look = found
    if (found + width > before || (position + found - start) % width !== 0) continue
    lines++
    at = found + width
  }
  return { lines, at }
}

function endsLine(bytes: Buffer, { separator }: LineEnding): boolean {
  return bytes.length >= separator.length && bytes.subarray(bytes.length - separator.length).equals(separator)
}

/** The total number of lines when `line` would be the next one. */
async function countedTo(line: number, file: OpenFile, ends: LineEnding): Promise<number> {
  const { length } = ends.separator
  if (file.size - ends.start < length) return line - 1
  return endsLine(await readExactly(file, file.size - length, length), ends) ? line - 1 : line
}

async function readFully(file: OpenFile, buffer: Buffer, position: number): Promise<number> {
  let length = 0
  while (length < buffer.length) {
    const read = await file.read(buffer.subarray(length), position + length)
    if (read === 0) break
    length += read
  }
  return length
}

async function readExactly(file: OpenFile, position: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size)
  return buffer.subarray(0, await readFully(file, buffer, position))
}
