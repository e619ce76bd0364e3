import { expand, type Disk } from "./disk.ts"
import type { Join, Line, Loop, Segment, Unread, Word } from "./line.ts"
import { variablesIn, withValues } from "./variables.ts"

/** The commands of a line, those of its loops once for each round, with the values of variables in their words. */
export interface Rounds {
  readonly segments: readonly Segment[]
  readonly joins: readonly Join[]
  /** Patterns that were looked up for loops. */
  readonly patterns: readonly Word[]
}

const mostSegments = 200

/**
 * Goes through the loops of a line. A loop's variable has the values that are written there or the names that fit a
 * pattern; `$PWD` has one as long as nothing changes the folder. What else is known to be harmless stays as `$NAME`.
 */
export function roundsOf(line: Line, folder: string, disk: Disk): Rounds | Unread {
  const moves = line.segments.some(({ words }) => words[0]!.value === "cd")
  const values = new Map<Loop, readonly string[]>()
  for (const loop of line.loops) {
    if (!isFree(loop.name)) return { because: `'${loop.name}' is more than the variable of a loop` }
    const found = valuesOf(loop, moves ? undefined : folder, disk)
    if (found === undefined) return { because: `it is not clear what the loop over '${loop.name}' comes to` }
    values.set(loop, found)
  }
  const known = new Map(moves || !plain.test(folder) ? [] : [["PWD", folder]])
  const made: { segments: Segment[]; joins: Join[] } = { segments: [], joins: [] }
  const because = repeat({ line, values, made }, { from: 0, to: line.segments.length, known })
  if (because !== undefined) return { because }
  const patterns = line.loops.flatMap(({ words }) => words.filter(({ glob }) => glob !== -1))
  return { ...made, patterns }
}

/** The shell and programs take no notice of such names. */
function isFree(name: string): boolean {
  return /^[a-z][a-z0-9]{0,20}$/.test(name) && name !== "histchars"
}

/** Neither divided nor looked for on the disk when they stand without quotes. */
const plain = /^[\w./:@%+,=-]+$/

function valuesOf({ words }: Loop, folder: string | undefined, disk: Disk): readonly string[] | undefined {
  const values: string[] = []
  for (const word of words) {
    if (word.glob !== -1 && folder === undefined) return undefined
    const found = word.glob === -1 ? [word.value] : expand(word, folder!, disk)
    if (found === undefined) return undefined
    values.push(...found)
  }
  return values.length > 0 && values.length <= mostSegments && values.every((value) => plain.test(value))
    ? values
    : undefined
}

interface Work {
  readonly line: Line
  readonly values: ReadonlyMap<Loop, readonly string[]>
  readonly made: { readonly segments: Segment[]; readonly joins: Join[] }
}

interface Span {
  readonly from: number
  readonly to: number
  readonly known: ReadonlyMap<string, string>
  /** The loops this stands in. */
  readonly inside?: readonly Loop[]
}

function repeat({ line, values, made }: Work, { from, to, known, inside = [] }: Span): string | undefined {
  for (let at = from; at < to;) {
    // The outermost of those that begin here.
    const loop = line.loops.findLast((one) => one.from === at && !inside.includes(one))
    if (loop === undefined) {
      if (made.segments.length >= mostSegments) return "its loops go round too often"
      // A round begins where the one before it ended, or what is before the loop, well or not.
      const isRound = at === from && inside.length > 0
      if (made.segments.length > 0) made.joins.push(isRound ? ";" : line.joins[at - 1]!)
      const segment = withVariables(line.segments[at]!, known)
      if (typeof segment === "string") return segment
      made.segments.push(segment)
      at++
      continue
    }
    if (inside.some(({ name }) => name === loop.name)) return `two loops in each other have the variable '${loop.name}'`
    for (const value of values.get(loop)!) {
      const round = { from: loop.from, to: loop.to, known: new Map([...known, [loop.name, value]]) }
      const because = repeat({ line, values, made }, { ...round, inside: [...inside, loop] })
      if (because !== undefined) return because
    }
    at = loop.to
  }
  return undefined
}

/** What people print to see where they are. */
const printed = new Set(["HOME", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "PATH", "?"])

function withVariables(segment: Segment, known: ReadonlyMap<string, string>): Segment | string {
  if (!segment.words.some(({ value }) => value.includes("\uE000"))) return segment
  const words: Word[] = []
  for (const word of segment.words) {
    const open = variablesIn(word.value).filter((name) => !known.has(name))
    const odd = open.find((name) => !printed.has(name))
    if (odd !== undefined) return `the value of '$${odd}' is not known`
    const glob = word.glob === -1 ? -1 : withValues(word.value.slice(0, word.glob), known).length
    words.push({ value: withValues(word.value, known), glob, ...(open.length > 0 ? { varies: true } : {}) })
  }
  return { ...segment, words }
}
