import { hmac, type RecordKey } from "./key.ts"

/**
 * A frame is what one write hands to the operating system: lines of JSON, numbered through the chain, and a seal that
 * depends on them and on every frame before. A frame without its seal was never acknowledged.
 */
export interface Frame {
  lines: string[]
  seal: string
}

const sealMark = "#"

/** The seal of the lines after the frame that has `previous`. */
export function sealOf(key: RecordKey, previous: string, lines: string): string {
  return hmac(key, `${previous}\n${lines}`)
}

/** The text of a frame. `lines` are JSON objects, each with its line end. */
export function frameText(lines: string, seal: string): string {
  return `${lines}${sealMark}${seal}\n`
}

/** An entry as the line with that number. */
export function numbered(seq: number, json: string): string {
  return `{"n":${seq},${json.slice(1)}\n`
}

/** The number a line says it has, or NaN. */
export function numberOf(line: string): number {
  return line.startsWith('{"n":') ? Number(line.slice(5, line.indexOf(",", 5))) : Number.NaN
}

/** How much of a text is whole frames: up to and with the last seal's line end. */
export function wholeFrames(text: string): number {
  for (let end = text.lastIndexOf("\n"); end !== -1; end = text.lastIndexOf("\n", end - 1)) {
    const start = text.lastIndexOf("\n", end - 1) + 1
    if (text[start] === sealMark && end - start === 44) return end + 1
    if (end === 0) return 0
  }
  return 0
}

/** Reads frames. The last one has an empty seal when the text ends without one. */
export function* framesOf(text: string): Generator<Frame> {
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
