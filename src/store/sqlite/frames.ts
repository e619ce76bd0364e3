import { hmac, hmacOfPadded, type RecordKey } from "./record-key.ts"

/**
 * The unit of one write: lines of JSON, numbered through the chain, and a seal over them and all frames before. A frame
 * without its seal was never acknowledged.
 */
export interface Frame {
  lines: string[]
  seal: string
}

const sealMark = "#"

/** The seal of a frame with these lines. `previous` is the seal of the frame before. */
export function sealOf(key: RecordKey, previous: string, lines: string): string {
  return hmac(key, `${previous}\n${lines}`)
}

/** The text of a frame. `lines` are JSON objects, each followed by a line end. */
export function frameText(lines: string, seal: string): string {
  return `${lines}${sealMark}${seal}\n`
}

/** Frames are built in this buffer. A frame that does not fit gets its own. */
const scratch = Buffer.allocUnsafe(256 * 1024)

/**
 * The bytes of a frame and its seal. The text is encoded once, for both the seal and the write. The bytes are valid only
 * until the next frame is built.
 */
export function frameBytes(key: RecordKey, previous: string, lines: string): { bytes: Buffer; seal: string } {
  const input = `${key.inner}${previous}\n${lines}`
  const maxBytes = 3 * input.length + 100
  const buffer = maxBytes > scratch.length ? Buffer.allocUnsafe(maxBytes) : scratch
  const end = buffer.write(input)
  const seal = hmacOfPadded(key, buffer.subarray(0, end))
  const length = buffer.write(`${sealMark}${seal}\n`, end, "latin1")
  return { bytes: buffer.subarray(key.inner.length + previous.length + 1, end + length), seal }
}

/** The entry's JSON as a line with this number. */
export function numberLine(seq: number, json: string): string {
  return `{"n":${seq},${json.slice(1)}\n`
}

/** The number in the line, or NaN. */
export function lineNumber(line: string): number {
  return line.startsWith('{"n":') ? Number(line.slice(5, line.indexOf(",", 5))) : Number.NaN
}

/** The length of the whole frames in a text: up to and including the line end of the last seal. */
export function wholeFramesLength(text: string): number {
  for (let end = text.lastIndexOf("\n"); end !== -1; end = text.lastIndexOf("\n", end - 1)) {
    const start = text.lastIndexOf("\n", end - 1) + 1
    if (text[start] === sealMark && end - start === 44) return end + 1
    if (end === 0) return 0
  }
  return 0
}

/** Reads frames. The last one has an empty seal when the text ends without one. */
export function* parseFrames(text: string): Generator<Frame> {
  let lines: string[] = []
  for (let from = 0; from < text.length;) {
    let to = text.indexOf("\n", from)
    if (to === -1) to = text.length
    const line = text.slice(from, to)
    from = to + 1
    if (!line.startsWith(sealMark)) {
      lines.push(line)
      continue
    }
    yield { lines, seal: line.slice(1) }
    lines = []
  }
  if (lines.length > 0) yield { lines, seal: "" }
}
