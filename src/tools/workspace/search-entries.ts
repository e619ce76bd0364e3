import type { Place } from "./search-places.ts"
import type { Part } from "./search-text.ts"

export interface ShownMatch {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly match: string
  /** How many matches begin in this line, where that is more than one. */
  readonly count?: number
  readonly context: { readonly before: string[]; readonly after: string[] }
}

export interface EntryOptions {
  readonly onlyMatching: boolean
  readonly before: number
  readonly after: number
}

/** What is shown of a place; undefined when its match is not there any more. */
export function entryOf(file: string, place: Place, part: Part, options: EntryOptions): ShownMatch | undefined {
  const { bytes } = part
  const { line, count, begins } = place
  const at = place.at - part.start
  const end = at + place.length
  if (end > bytes.length || !bytes.subarray(at, at + begins.length).equals(begins)) return undefined
  const from = beginOfLine(bytes, at)
  const to = endOfLine(bytes, Math.max(at, end - 1))
  const column = bytes.toString("utf8", from, at).length + 1
  return {
    file,
    line,
    column,
    match: options.onlyMatching
      ? shortened(bytes.toString("utf8", at, end), 1)
      : shortened(withoutBreak(bytes.toString("utf8", from, to)), column),
    ...(count > 1 ? { count } : {}),
    context: { before: linesBefore(bytes, from, options.before), after: linesAfter(bytes, to, options.after) },
  }
}

function beginOfLine(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1
}

/** Behind the break that ends it. */
function endOfLine(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(newline, at)
  return end === -1 ? bytes.length : end + 1
}

function linesBefore(bytes: Buffer, to: number, many: number): string[] {
  const lines: string[] = []
  for (let end = to; end > 0 && lines.length < many;) {
    const from = beginOfLine(bytes, end - 1)
    lines.unshift(lineOf(bytes, from, end))
    end = from
  }
  return lines
}

function linesAfter(bytes: Buffer, from: number, many: number): string[] {
  const lines: string[] = []
  for (let at = from; at < bytes.length && lines.length < many;) {
    const end = endOfLine(bytes, at)
    lines.push(lineOf(bytes, at, end))
    at = end
  }
  return lines
}

function lineOf(bytes: Buffer, from: number, to: number): string {
  return shortened(withoutBreak(bytes.toString("utf8", from, to)), 1)
}

function withoutBreak(text: string): string {
  return text.replace(/\r?\n$|\r$/, "")
}

const newline = 10
const longestLine = 1000
const shownBefore = 200

/** A longer line is shown around the match; what is left out is marked. */
function shortened(text: string, column: number): string {
  if (text.length <= longestLine) return text
  const from = Math.max(0, Math.min(column - 1 - shownBefore, text.length - longestLine))
  const to = from + longestLine
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`.toWellFormed()
}
