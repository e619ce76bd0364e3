import { gitWords, pushWords } from "./git.ts"
import { baseName, canonicalProgramName } from "./wrappers.ts"

/** A line of the configuration: a program and the words it must begin with. */
export interface ListedCommand {
  readonly text: string
  /** Its place in the configuration, for example `tools.shell.allow[2]`. */
  readonly source: string
}

export interface CommandList {
  /** The line whose words the command begins with, letter by letter. */
  findExact(words: readonly string[]): CommandEntry | undefined
  /** The line that means this command, however its program is spelled and whatever options stand between the words. */
  findMeaning(words: readonly string[]): CommandEntry | undefined
  /** The line whose program is any of these words, with its other words somewhere after it. */
  findAmong(words: readonly string[]): CommandEntry | undefined
}

export interface CommandEntry extends ListedCommand {
  readonly words: readonly string[]
}

export function readCommandList(lines: readonly ListedCommand[]): CommandList {
  // The longest line comes first, because the most specific one counts.
  const entries = lines
    .map((line) => ({ ...line, words: line.text.trim().split(/\s+/) }))
    .sort((a, b) => b.words.length - a.words.length)
  const byName = groupBy(entries, ({ words }) => words[0]!)
  const byBase = groupBy(entries, ({ words }) => baseName(words[0]!))
  const entriesFor = (program: string) =>
    [...new Set([baseName(program), canonicalProgramName(program)])].flatMap((name) => byBase.get(name) ?? [])
  return {
    findExact: (words) =>
      byName
        .get(words[0] === "[" ? "test" : (words[0] ?? ""))
        ?.find((entry) => beginsWith(words, entry.words) || beginsWith(normalizeWords(words), entry.words)),
    findMeaning: (words) =>
      entriesFor(words[0] ?? "").find((entry) => means(words, entry.words) || means(pushWords(words), entry.words)),
    findAmong(words) {
      // An entry that fails at the first occurrence of its program also fails at later ones.
      const tried = new Set<CommandEntry>()
      for (const [at, word] of words.entries()) {
        for (const entry of entriesFor(word)) {
          if (!tried.has(entry) && isInOrder(entry.words.slice(1), words.slice(at + 1))) return entry
          tried.add(entry)
        }
      }
      return undefined
    },
  }
}

/** `[` becomes `test`, and options of git that change nothing are dropped. */
export function normalizeWords(words: readonly string[]): readonly string[] {
  if (words[0] === "[") return ["test", ...words.slice(1)]
  return words[0] === "git" ? gitWords(words) : words
}

function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, at) => words[at] === word)
}

/** Options and their possible values may stand between the denied words. */
function means(words: readonly string[], [, ...wanted]: readonly string[]): boolean {
  let at = 1
  for (const word of wanted) {
    while (at < words.length && words[at] !== word && isOptionOrValue(words, at)) at++
    if (words[at] !== word) return false
    at++
  }
  return true
}

function isOptionOrValue(words: readonly string[], at: number): boolean {
  return words[at]!.startsWith("-") || (at > 1 && words[at - 1]!.startsWith("-"))
}

function isInOrder(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0
  for (const word of words) if (word === wanted[at]) at++
  return at === wanted.length
}

function groupBy(entries: readonly CommandEntry[], name: (entry: CommandEntry) => string): Map<string, CommandEntry[]> {
  const groups = new Map<string, CommandEntry[]>()
  for (const entry of entries) {
    const key = name(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
