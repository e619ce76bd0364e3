import { posix } from "node:path"
import type { Disk } from "./disk.ts"
import { unsafeVariable } from "./unsafe-variables.ts"
import { cdTarget, workingFolders } from "./working-folders.ts"
import { lex, type Lexed } from "./lexer.ts"
import { areSameTokens, type Segment, type Unprovable, type Word } from "./shell-line.ts"
import { normalizeWords, type CommandList } from "./command-lists.ts"
import { filesUsed, isInside, uniqueFiles, type NamedFile } from "./named-files.ts"
import type { Parsers } from "./parsers.ts"
import { programOf, type ProgramUse } from "./programs.ts"
import { baseName, runsItsArguments, shellChanging, unwrapPlain } from "./wrappers.ts"

/** A segment with a known program and known files. */
export interface ProvedSegment {
  /** The words as the program gets them, without wrappers such as `timeout 5`. */
  readonly words: readonly string[]
  /** The same words with their wrappers, and without options that change nothing. */
  readonly wrapped: readonly (readonly string[])[]
  readonly files: readonly NamedFile[]
  /** The text of here-strings; of a here-document only its delimiter. */
  readonly texts?: readonly string[]
}

export interface ProofOptions {
  readonly workspace: string
  /** The folder the script runs in. */
  readonly folder: string
  readonly allow: CommandList
  readonly disk: Disk
}

/** Proves which programs a script runs, when its words alone make that certain. */
export function prove(script: string, parsers: Parsers, options: ProofOptions): readonly ProvedSegment[] | Unprovable {
  const lexed = readPlain(script, parsers)
  if ("because" in lexed) return lexed
  const { folder, workspace, disk } = options
  const { segments, joins } = lexed.line
  const real = disk.realpath(folder) ?? folder
  const folders = workingFolders(segments, joins, real === folder ? [folder] : [folder, real])
  if (folders === undefined) return { because: "it is not clear where a 'cd' in it leads" }
  const targets = segments.flatMap((segment, at) => cdTargets(segment, folders[at]!))
  const outside = [...folders.flat(), ...targets].find((path) => !isInside(disk.realpath(path) ?? path, workspace))
  if (outside !== undefined) return { because: `it changes to the folder '${outside}' outside the workspace` }
  if (folders.some(({ length }) => length > 8)) return { because: "it changes folders too often" }
  const proved: ProvedSegment[] = []
  for (const [at, segment] of segments.entries()) {
    const result = proveSegment(segment, joins[at - 1] === "|", folders[at]!, options)
    if ("because" in result) return result
    proved.push(result)
  }
  const writing = proved.filter(({ files }) => files.some(({ kind }) => kind === "write"))
  const searchesFiles = segments.some(({ words }) => words.some(({ glob, value }) => glob !== -1 || value === "rg"))
  // Patterns were expanded and folders searched before anything ran.
  if (writing.length > 0 && searchesFiles) return { because: "a file that it writes could change what it finds" }
  return writing.length === 1 ? proved.map((segment) => withoutImpossible(segment, disk)) : proved
}

/** `cp a b` writes `b` or, when that is a folder, `b/a`. Nothing else in the script can make a folder of the file. */
function withoutImpossible(segment: ProvedSegment, disk: Disk): ProvedSegment {
  const isBelowFile = ({ kind, path }: NamedFile) => {
    const real = kind === "write" ? disk.realpath(posix.dirname(path)) : undefined
    return real !== undefined && disk.isFile(real)
  }
  return { ...segment, files: segment.files.filter((file) => !isBelowFile(file)) }
}

/** A `cd` counts even when nothing runs after it. */
function cdTargets(segment: Segment, folders: readonly string[]): string[] {
  if (segment.words[0]!.value !== "cd") return []
  const target = cdTarget(segment)
  return folders.map((folder) => (target === undefined ? "/" : posix.resolve(folder, target)))
}

/** The lexer and both parsers must read the script in the same way. */
export function readPlain(script: string, parsers: Parsers): Lexed | Unprovable {
  const lexed = lex(script)
  if ("because" in lexed) return lexed
  for (const tokens of [parsers.readTreeSitter(lexed.script), parsers.readUnbash(lexed.script)])
    if (tokens === undefined || !areSameTokens(lexed.tokens, tokens))
      return { because: "it can be read in more than one way" }
  return lexed
}

export function proveSegment(
  segment: Segment,
  isPiped: boolean,
  folders: readonly string[],
  options: ProofOptions,
): ProvedSegment | Unprovable {
  const variable = unsafeVariable(Object.fromEntries(segment.assignments.map(({ name, value }) => [name, value])))
  if (variable !== undefined) return { because: `the variable '${variable}' may change what runs` }
  const all = segment.words.map(({ value }) => value)
  const starts = wrappedStarts(all)
  const start = starts.at(-1)!
  const words = all.slice(start)
  const wrapped = starts.slice(0, -1).map((wrapperStart) => all.slice(wrapperStart))
  // `time` is a keyword of the shell, so `time cd x` changes the folder for what follows.
  if (words[0] === "cd" && start > 0) return { because: `it is not clear where a 'cd' in it leads` }
  const use = useOf(segment.words.slice(start), words, options)
  if ("because" in use) return { because: `${use.because}, in '${displayWords(all)}'` }
  const hasInput = isPiped && !segment.redirects.some(({ operator }) => operator.includes("<"))
  const used = hasInput && use.readsInputInstead === true ? { ...use, recursiveReads: [] } : use
  const files: NamedFile[] = []
  for (const folder of folders) {
    const named = filesUsed(segment.redirects, used, folder, options)
    if ("because" in named) return { because: `${named.because}, in '${displayWords(all)}'` }
    files.push(...named)
  }
  const plain = normalizeWords(words)
  const texts = segment.redirects.flatMap(({ operator, target }) => (operator.startsWith("<<") ? [target.value] : []))
  return { words, files: uniqueFiles(files), texts, wrapped: plain === words ? wrapped : [...wrapped, plain] }
}

/** Returns the start of each wrapper, and last that of the program itself. */
function wrappedStarts(words: readonly string[]): number[] {
  const starts = [0]
  for (;;) {
    const next = unwrapPlain(words.slice(starts.at(-1)))
    if (next === 0) return starts
    starts.push(starts.at(-1)! + next)
  }
}

/** Returns the use of files by a program: by its table or, without one, every argument that looks like a path. */
function useOf(
  shellWords: readonly Word[],
  words: readonly string[],
  { allow }: ProofOptions,
): ProgramUse | Unprovable {
  const [program = "", ...args] = words
  if (program === "cd") return { reads: shellWords.slice(1) }
  const entry = allow.findExact(words)
  const isNamedExactly = entry !== undefined && entry.words.length > 1 && !entry.words.at(-1)!.startsWith("-")
  const table = programOf(baseName(program))
  if (table !== undefined && baseName(program) === posix.basename(program)) {
    if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
    const use = table(shellWords.slice(1))
    return "because" in use ? use : withPatterns(use, shellWords)
  }
  if (shellChanging.has(program)) return { because: `'${program}' changes what the shell does next` }
  if (runsItsArguments(program) && !isNamedExactly)
    return { because: `'${program}' runs its arguments as code or as another command` }
  if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
  const pattern = shellWords.slice(1).find(({ glob }) => glob === 0)
  if (pattern !== undefined) return { because: `the pattern '${pattern.value}' could stand for an option` }
  return { guesses: args }
}

/** Expanding a pattern reads its folder, even for programs that only print it. */
function withPatterns(use: ProgramUse, shellWords: readonly Word[]): ProgramUse {
  const patterns = shellWords.filter(({ glob, value }) => glob !== -1 && !value.startsWith("-"))
  const unlisted = patterns.filter(
    (word) => ![use.reads, use.writes, use.recursiveReads].some((list) => list?.includes(word)),
  )
  return unlisted.length === 0 ? use : { ...use, reads: [...(use.reads ?? []), ...unlisted] }
}

/** The words for a sentence, cut to 120 characters. */
export function displayWords(words: readonly string[]): string {
  const text = words.join(" ")
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
