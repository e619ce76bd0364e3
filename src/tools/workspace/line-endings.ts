import { separatorOf } from "./lines.ts"

/** A text in which every line ends with a line feed, and how its offsets map to the original text. */
export interface NormalizedText {
  readonly text: string
  /** The original text, as in the file. */
  readonly raw: string
  /** The offset in the raw text. */
  rawOffset(offset: number): number
  /** Normalizes a text to search for or to insert. */
  normalize(given: string): string
}

export function normalizeLineEndings(raw: string): NormalizedText {
  if (!raw.includes("\r")) return { raw, text: raw, rawOffset: (offset) => offset, normalize: withoutPairs }
  if (separatorOf(raw) === "\r") {
    const of = (given: string) => withoutPairs(given).replaceAll("\r", "\n")
    return { raw, text: raw.replaceAll("\r", "\n"), rawOffset: (offset) => offset, normalize: of }
  }
  const text = withoutPairs(raw)
  if (text.length === raw.length) return { raw, text, rawOffset: (offset) => offset, normalize: withoutPairs }
  const pairs = pairOffsets(raw)
  return { raw, text, rawOffset: (offset) => offset + countBelow(pairs, offset), normalize: withoutPairs }
}

/**
 * A new text with the line endings of the file: an unchanged line keeps its own, a new one ends like the lines it
 * replaces or those around it.
 */
export async function withLineEndings(
  normal: NormalizedText,
  start: number,
  end: number,
  fresh: string,
): Promise<string> {
  if (!fresh.includes("\n") || normal.text === normal.raw) return fresh
  const old = endsBetween(normal, start, end)
  const kinds = new Set(old)
  if (kinds.size > 1) return alignedEnds(normal.text.slice(start, end), old, fresh)
  return fresh.replaceAll("\n", old[0] ?? nearestEnd(normal, start, end))
}

async function alignedEnds(old: string, ends: readonly string[], fresh: string): Promise<string> {
  const { diffArrays } = await import("diff")
  const before = old.split("\n")
  const after = fresh.split("\n")
  const chosen: string[] = []
  let at = 0
  for (const { count = 0, added, removed } of diffArrays(before, after, { maxEditLength: 2000 }) ?? []) {
    if (removed === true) at += count
    else if (added === true) for (let line = 0; line < count; line++) chosen.push(ends[Math.max(0, at - 1)] ?? ends[0]!)
    else for (let line = 0; line < count; line++) chosen.push(ends[at++] ?? ends.at(-1)!)
  }
  return after.map((line, index) => (index === after.length - 1 ? line : line + (chosen[index] ?? ends[0]!))).join("")
}

function endsBetween({ text, raw, rawOffset }: NormalizedText, start: number, end: number): string[] {
  const ends: string[] = []
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    ends.push(raw.slice(rawOffset(at), rawOffset(at + 1)))
  }
  return ends
}

/** The ending of the line in which the region ends, or of the one before it. */
function nearestEnd({ text, raw, rawOffset }: NormalizedText, start: number, end: number): string {
  const here = text.indexOf("\n", end)
  const at = here === -1 ? text.lastIndexOf("\n", start - 1) : here
  return at === -1 ? "\n" : raw.slice(rawOffset(at), rawOffset(at + 1))
}

function withoutPairs(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text
}

/** The offsets in the normalized text of line feeds that were CRLF. */
function pairOffsets(raw: string): number[] {
  const offsets: number[] = []
  for (let at = raw.indexOf("\r\n"); at !== -1; at = raw.indexOf("\r\n", at + 2)) offsets.push(at - offsets.length)
  return offsets
}

function countBelow(offsets: readonly number[], offset: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (offsets[middle]! < offset) low = middle + 1
    else high = middle
  }
  return low
}
