import { TooMuchWork } from "./too-much-work.ts"

/** A compiled pattern. It must match the whole text. */
export interface Glob {
  /** The only text it matches, when it has no wildcard. */
  readonly literal: string | undefined
  /** The fixed beginning and end of every text it matches. */
  readonly start: string
  readonly end: string
  matches(text: string): boolean
}

/** In a *text* `*` stands for anything; in a *path* for anything but `/`, and `**` for anything. */
export type GlobKind = "text" | "path"

/**
 * Reads `*`, `?`, `[a-z]`, `[!a-z]` and `\` before a character that means itself. In a path a leading or inner `**` with
 * its `/` stands for any number of folders, none too. A match costs at most the text's length times the pattern's.
 */
export function readGlob(pattern: string, kind: GlobKind): { glob: Glob } | { mistake: string } {
  if (pattern === "") return { mistake: "is empty" }
  if (pattern.length > longest) return { mistake: `is longer than ${longest} characters` }
  const parts = partsOf(Array.from(pattern), kind)
  return typeof parts === "string" ? { mistake: parts } : { glob: globOf(parts, kind) }
}

const longest = 1000
const slash = 47

/** One character, any number of characters, or any number of whole folders. */
type Part =
  | { is: "one"; fits(code: number): boolean; text?: string }
  | { is: "many"; fits(code: number): boolean }
  | { is: "folders" }

function partsOf(characters: readonly string[], kind: GlobKind): Part[] | string {
  const parts: Part[] = []
  const wild = kind === "path" ? (code: number) => code !== slash : () => true
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    if (character === "*") {
      const first = at
      while (characters[at + 1] === "*") at++
      const whole = kind === "path" && at > first && (first === 0 || characters[first - 1] === "/")
      if (whole && characters[at + 1] === "/") {
        parts.push({ is: "folders" })
        at++
      } else parts.push({ is: "many", fits: at > first ? () => true : wild })
    } else if (character === "?") {
      parts.push({ is: "one", fits: wild })
    } else if (character === "[") {
      const set = readSet(characters, at + 1)
      if (set === undefined) return "has a '[' that is not closed, is empty or goes backwards"
      parts.push({ is: "one", fits: (code) => set.fits(code) && wild(code) })
      at = set.end
    } else {
      if (character === "\\") at++
      const text = characters[at]
      if (text === undefined) return "ends with a '\\' that has nothing after it"
      const meant = text.codePointAt(0)
      parts.push({ is: "one", fits: (code) => code === meant, text })
    }
  }
  return parts
}

/** `end` is where the set's `]` stands. */
function readSet(
  characters: readonly string[],
  start: number,
): { fits(code: number): boolean; end: number } | undefined {
  const negated = characters[start] === "!" || characters[start] === "^"
  const ranges: { from: number; to: number }[] = []
  let at = negated ? start + 1 : start
  const take = (): number | undefined => {
    if (characters[at] === "\\") at++
    return characters[at++]?.codePointAt(0)
  }
  for (let first = true; characters[at] !== "]" || first; first = false) {
    const from = take()
    const isRange = characters[at] === "-" && characters[at + 1] !== "]"
    if (isRange) at++
    const to = isRange ? take() : from
    if (from === undefined || to === undefined || to < from) return undefined
    ranges.push({ from, to })
  }
  const fits = (code: number) => ranges.some(({ from, to }) => code >= from && code <= to) !== negated
  return { fits, end: at }
}

function globOf(parts: readonly Part[], kind: GlobKind): Glob {
  const texts = parts.map((part) => (part.is === "one" ? part.text : undefined))
  const firstWild = texts.indexOf(undefined)
  const start = texts.slice(0, firstWild === -1 ? undefined : firstWild).join("")
  if (firstWild === -1) return { literal: start, start, end: start, matches: (text) => text === start }
  const lastWild = texts.lastIndexOf(undefined)
  const end = texts.slice(lastWild + 1).join("")
  const middle = parts.slice(firstWild, lastWild + 1)
  const plain = kind === "text" && middle.every((part) => part.is === "many" || (part.is === "one" && part.text))
  const inside = plain ? piecesMatcher(middle) : (text: string) => matchParts(middle, text)
  const least = start.length + end.length
  return {
    literal: undefined,
    start,
    end,
    matches: (text) =>
      text.length >= least &&
      text.startsWith(start) &&
      text.endsWith(end) &&
      inside(text.slice(start.length, text.length - end.length)),
  }
}

/** Matches literal pieces with `*` between them and around them: each piece is taken at its first occurrence. */
function piecesMatcher(parts: readonly Part[]): (text: string) => boolean {
  const pieces = [""]
  for (const part of parts) {
    if (part.is === "one") pieces.push(pieces.pop()! + part.text!)
    else if (pieces.at(-1) !== "") pieces.push("")
  }
  return (text) => {
    let from = 0
    for (const piece of pieces) {
      const found = text.indexOf(piece, from)
      if (found === -1) return false
      from = found + piece.length
    }
    return true
  }
}

let stepsLeft = Number.POSITIVE_INFINITY

/** Throws `TooMuchWork` when matching patterns in `work` takes more steps than this. A second has about 100 million. */
export function withMatchingLimit<T>(steps: number, work: () => T): T {
  stepsLeft = steps
  try {
    return work()
  } finally {
    stepsLeft = Number.POSITIVE_INFINITY
  }
}

/** Follows all alternatives at once, so that it never backtracks. */
function matchParts(parts: readonly Part[], text: string): boolean {
  stepsLeft -= text.length * parts.length
  if (stepsLeft < 0)
    throw new TooMuchWork(
      "These patterns take too long to match. Make the patterns, or the texts in examples, shorter.",
    )
  let now = new Uint8Array(parts.length + 1)
  let next = new Uint8Array(parts.length + 1)
  enter(parts, now, 0)
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at)!
    at += code > 0xffff ? 2 : 1
    next.fill(0)
    let alive = false
    for (let index = 0; index < parts.length; index++) {
      if (now[index] === 0) continue
      const part = parts[index]!
      if (part.is === "folders") {
        next[index] = 1
        if (code === slash) enter(parts, next, index + 1)
      } else if (part.fits(code)) enter(parts, next, part.is === "many" ? index : index + 1)
      else continue
      alive = true
    }
    if (!alive) return false
    ;[now, next] = [next, now]
  }
  return now[parts.length] === 1
}

/** Enters a part and, if it can match nothing, the one after it too. */
function enter(parts: readonly Part[], states: Uint8Array, index: number): void {
  for (let at = index; ; at++) {
    states[at] = 1
    if (at === parts.length || parts[at]!.is === "one") return
  }
}
