import { separatorOf } from "./lines.ts"

/** A text in which every line ends with a line feed, and where its places are in the text it was made of. */
export interface Normal {
  readonly text: string
  /** The text as it is in the file. */
  readonly raw: string
  /** The place in the raw text. A place between the two characters of an ending does not exist. */
  rawAt(place: number): number
  /** The same for a text that is to be looked for or put in. */
  of(given: string): string
}

export function normalise(raw: string): Normal {
  if (!raw.includes("\r")) return { raw, text: raw, rawAt: (place) => place, of: withoutPairs }
  if (separatorOf(raw) === "\r") {
    const of = (given: string) => withoutPairs(given).replaceAll("\r", "\n")
    return { raw, text: raw.replaceAll("\r", "\n"), rawAt: (place) => place, of }
  }
  const text = withoutPairs(raw)
  if (text.length === raw.length) return { raw, text, rawAt: (place) => place, of: withoutPairs }
  const pairs = placesOfPairs(raw)
  return { raw, text, rawAt: (place) => place + countBelow(pairs, place), of: withoutPairs }
}

/**
 * A new text with the endings it shall have in the file: a line that was there before keeps its own, a new one ends like
 * the lines whose place it takes, or like those around it.
 */
export async function withEnds(normal: Normal, start: number, end: number, fresh: string): Promise<string> {
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

function endsBetween({ text, raw, rawAt }: Normal, start: number, end: number): string[] {
  const ends: string[] = []
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    ends.push(raw.slice(rawAt(at), rawAt(at + 1)))
  }
  return ends
}

/** The ending of the line in which the region ends, or of the one before it. */
function nearestEnd({ text, raw, rawAt }: Normal, start: number, end: number): string {
  const here = text.indexOf("\n", end)
  const at = here === -1 ? text.lastIndexOf("\n", start - 1) : here
  return at === -1 ? "\n" : raw.slice(rawAt(at), rawAt(at + 1))
}

function withoutPairs(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text
}

/** Where in the normal text the line feeds are that were pairs. */
function placesOfPairs(raw: string): number[] {
  const places: number[] = []
  for (let at = raw.indexOf("\r\n"); at !== -1; at = raw.indexOf("\r\n", at + 2)) places.push(at - places.length)
  return places
}

function countBelow(places: readonly number[], place: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (places[middle]! < place) low = middle + 1
    else high = middle
  }
  return low
}
