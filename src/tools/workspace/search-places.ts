/** A line in which matches begin, of the text as ripgrep reads it: without a mark, and UTF-16 as UTF-8. */
export interface Place {
  /** The number of its first match among those of the file, from 0. */
  readonly index: number
  /** From 1. */
  readonly line: number
  /** Where its first match begins, in bytes from the beginning of the text. */
  readonly at: number
  /** How far its matches go from there, in bytes. */
  length: number
  /** How its first match begins. What is shown must have this there. */
  readonly begins: Buffer
  /** How many matches begin in the line. */
  count: number
}

/** Which matches of a file are kept, by their numbers from 0. */
export interface Wanted {
  readonly from: number
  readonly to: number
  /** Each match is a place of its own, also where several begin in a line. */
  readonly single: boolean
}

/** Adds a match to the places of its file. False when neither it nor what comes behind it is wanted. */
export function keep(places: Place[], match: Omit<Place, "count">, { from, to, single }: Wanted): boolean {
  const last = places.at(-1)
  if (!single && last?.line === match.line) {
    last.count += 1
    last.length = Math.max(last.length, match.at + match.length - last.at)
  } else if (match.index >= to) return false
  else if (match.index >= from) {
    const begins = Buffer.from(match.begins.subarray(0, longestBeginning))
    places.push({ ...match, begins, count: 1 })
  }
  return true
}

/** So many bytes of a match are compared with what is there when it is shown. */
export const longestBeginning = 1000
