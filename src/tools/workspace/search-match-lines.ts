/** A line in which matches start. Offsets are of the text as ripgrep reads it: without byte order mark, as UTF-8. */
export interface MatchLine {
  /** The index of its first match in the file. */
  readonly index: number
  /** From 1. */
  readonly line: number
  /** The byte offset of its first match. */
  readonly at: number
  /** The number of bytes that its matches span. */
  length: number
  /** The first bytes of the first match, to notice a changed file before showing it. */
  readonly startBytes: Buffer
  /** The number of matches that start in the line. */
  count: number
}

/** The matches of a file to keep, by index. */
export interface MatchRange {
  readonly from: number
  readonly to: number
  /** Keeps each match separately, even several in one line. */
  readonly separate: boolean
}

/** Adds a match to those of its file. False if this match and the following ones are not needed. */
export function addMatch(
  matchLines: MatchLine[],
  match: Omit<MatchLine, "count">,
  { from, to, separate }: MatchRange,
): boolean {
  const last = matchLines.at(-1)
  if (!separate && last?.line === match.line) {
    last.count += 1
    last.length = Math.max(last.length, match.at + match.length - last.at)
  } else if (match.index >= to) return false
  else if (match.index >= from) {
    const startBytes = Buffer.from(match.startBytes.subarray(0, comparedBytes))
    matchLines.push({ ...match, startBytes, count: 1 })
  }
  return true
}

/** The number of bytes of a match that are compared with the file before it is shown. */
export const comparedBytes = 1000
