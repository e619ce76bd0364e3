import { gitWords, pushWords } from "./git.ts"
import { baseName, knownName } from "./wrappers.ts"

/** A line of the configuration: a program and the words it must begin with. */
export interface CommandLine {
  readonly text: string
  /** Where it stands, for example `tools.shell.allow[2]`. */
  readonly source: string
}

export interface CommandList {
  /** The line that names exactly these words, letter by letter. */
  naming(words: readonly string[]): Entry | undefined
  /** The line that means them, however the program is written. */
  meaning(words: readonly string[]): Entry | undefined
  /** The line whose program is one of these words and whose other words stand behind it, whatever is between them. */
  among(words: readonly string[]): Entry | undefined
}

export interface Entry extends CommandLine {
  readonly words: readonly string[]
}

export function readList(lines: readonly CommandLine[]): CommandList {
  // The line that says most is the one that counts.
  const entries = lines
    .map((line) => ({ ...line, words: line.text.trim().split(/\s+/) }))
    .sort((one, other) => other.words.length - one.words.length)
  const byName = groupBy(entries, ({ words }) => words[0]!)
  const byBase = groupBy(entries, ({ words }) => baseName(words[0]!))
  const called = (program: string) =>
    [...new Set([baseName(program), knownName(program)])].flatMap((name) => byBase.get(name) ?? [])
  return {
    naming: (words) =>
      byName
        .get(words[0] === "[" ? "test" : (words[0] ?? ""))
        ?.find((entry) => beginsWith(words, entry.words) || beginsWith(plainWords(words), entry.words)),
    meaning: (words) =>
      called(words[0] ?? "").find((entry) => means(words, entry.words) || means(pushWords(words), entry.words)),
    among(words) {
      // What is not behind the first of the same names is not behind a later one.
      const tried = new Set<Entry>()
      for (const [at, word] of words.entries()) {
        for (const entry of called(word)) {
          if (!tried.has(entry) && isInOrder(entry.words.slice(1), words.slice(at + 1))) return entry
          tried.add(entry)
        }
      }
      return undefined
    },
  }
}

/** `[` is `test`, and some options of git change nothing about what it does. */
export function plainWords(words: readonly string[]): readonly string[] {
  if (words[0] === "[") return ["test", ...words.slice(1)]
  return words[0] === "git" ? gitWords(words) : words
}

function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, at) => words[at] === word)
}

/** Options, and what may be their values, can stand between the words that are denied. */
function means(words: readonly string[], [, ...wanted]: readonly string[]): boolean {
  let at = 1
  for (const word of wanted) {
    while (at < words.length && words[at] !== word && isPassed(words, at)) at++
    if (words[at] !== word) return false
    at++
  }
  return true
}

function isPassed(words: readonly string[], at: number): boolean {
  return words[at]!.startsWith("-") || (at > 1 && words[at - 1]!.startsWith("-"))
}

function isInOrder(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0
  for (const word of words) if (word === wanted[at]) at++
  return at === wanted.length
}

function groupBy(entries: readonly Entry[], name: (entry: Entry) => string): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>()
  for (const entry of entries) {
    const key = name(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
