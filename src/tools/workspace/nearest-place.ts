import { toolRef, dialectText, type ToolRef, type DialectText } from "../../core/dialect-text.ts"

export const oldTextName: ToolRef = toolRef("edit_file", "oldText")

/** A sentence that shows the lines most similar to a text that was not found. */
export function nearestPlace(text: string, wanted: string): string | DialectText {
  const lines = text.split("\n")
  const sought = wanted.replace(/^\n+|\n+$/g, "").split("\n")
  const found = byEqualLines(lines, sought) ?? byLikeness(lines, sought)
  if (found === undefined) return "Nothing in it is similar. Read the file again."
  const end = Math.min(lines.length, found + Math.min(sought.length, maxShown))
  const shown = lines.slice(found, end).map((line, index) => `${found + index + 1}: ${short(line)}`)
  const only = onlySpace(lines.slice(found, found + sought.length), sought) ? ", which differ only in white space" : ""
  return dialectText`The most similar lines are these${only}:\n${shown.join("\n")}\nCopy ${oldTextName} exactly from the file.`
}

const maxShown = 12
const maxCompared = 20_000
/** A line that is repeated in the wanted text counts this often, because each is compared with every equal line. */
const maxRepeats = 5

/** Finds the place where most lines are equal, apart from surrounding white space. */
function byEqualLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const where = new Map<string, number[]>()
  sought.forEach((line, index) => {
    const plain = line.trim()
    if (plain.length <= 2) return
    const known = where.get(plain)
    if (known === undefined) where.set(plain, [index])
    else if (known.length < maxRepeats) known.push(index)
  })
  const votes = new Map<number, number>()
  lines.forEach((line, at) => {
    for (const index of where.get(line.trim()) ?? []) {
      const start = Math.max(0, at - index)
      votes.set(start, (votes.get(start) ?? 0) + 1)
    }
  })
  let best: number | undefined
  for (const [start, count] of votes) if (best === undefined || count > votes.get(best)!) best = start
  return best
}

/** Finds the line that shares most character pairs with the longest wanted line. */
function byLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const index = sought.reduce(
    (longest, line, at) => (line.trim().length > sought[longest]!.trim().length ? at : longest),
    0,
  )
  const pairs = pairsOf(sought[index]!)
  if (pairs.size === 0) return undefined
  let best: number | undefined
  let most = 0.4
  lines.slice(0, maxCompared).forEach((line, at) => {
    const other = pairsOf(line)
    if (other.size === 0 || Math.min(pairs.size, other.size) / Math.max(pairs.size, other.size) < 0.25) return
    let shared = 0
    for (const pair of other) if (pairs.has(pair)) shared++
    const likeness = (2 * shared) / (pairs.size + other.size)
    if (likeness > most) {
      most = likeness
      best = at
    }
  })
  return best === undefined ? undefined : Math.max(0, best - index)
}

function pairsOf(line: string): Set<string> {
  const plain = line.trim().slice(0, 200)
  const pairs = new Set<string>()
  for (let at = 0; at + 2 <= plain.length; at++) pairs.add(plain.slice(at, at + 2))
  return pairs
}

function onlySpace(lines: readonly string[], sought: readonly string[]): boolean {
  const plain = (some: readonly string[]) => some.join("").replace(/\s+/g, "")
  return plain(lines) === plain(sought)
}

function short(line: string): string {
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
