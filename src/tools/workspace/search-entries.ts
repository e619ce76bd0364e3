import type { MatchLine } from "./search-match-lines.ts"
import type { TextPart } from "./search-text.ts"

export interface ShownMatch {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly match: string
  /** The number of matches that start in this line, if more than one. */
  readonly count?: number
  readonly context: { readonly before: string[]; readonly after: string[] }
}

export interface EntryOptions {
  readonly onlyMatching: boolean
  readonly before: number
  readonly after: number
}

/** Returns the shown entry of a match; undefined if it is no longer there. */
export function entryOf(
  file: string,
  matchLine: MatchLine,
  part: TextPart,
  options: EntryOptions,
): ShownMatch | undefined {
  const { bytes } = part
  const { line, count, startBytes } = matchLine
  const at = matchLine.at - part.start
  const end = at + matchLine.length
  if (end > bytes.length || !bytes.subarray(at, at + startBytes.length).equals(startBytes)) return undefined
  const from = startOfLine(bytes, at)
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

function startOfLine(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1
}

/** After its line break. */
function endOfLine(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(newline, at)
  return end === -1 ? bytes.length : end + 1
}

function linesBefore(bytes: Buffer, to: number, count: number): string[] {
  const lines: string[] = []
  for (let end = to; end > 0 && lines.length < count;) {
    const from = startOfLine(bytes, end - 1)
    lines.unshift(lineOf(bytes, from, end))
    end = from
  }
  return lines
}

function linesAfter(bytes: Buffer, from: number, count: number): string[] {
  const lines: string[] = []
  for (let at = from; at < bytes.length && lines.length < count;) {
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
const maxLineLength = 1000
const shownBefore = 200

/** Cuts a long line to the part around the match, with … for what is left out. */
function shortened(text: string, column: number): string {
  if (text.length <= maxLineLength) return text
  const from = Math.max(0, Math.min(column - 1 - shownBefore, text.length - maxLineLength))
  const to = from + maxLineLength
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`.toWellFormed()
}
