import { posix } from "node:path"
import { expand, hasOddRepository, placeIn, type Disk } from "./disk.ts"
import { opaqueVariable } from "./environment.ts"
import { cdTarget, foldersOf } from "./folders.ts"
import type { Lexed } from "./lexer.ts"
import { lex } from "./lexer.ts"
import { isSameLine, type Redirect, type Segment, type Unread, type Word } from "./line.ts"
import type { CommandList } from "./lists.ts"
import type { Parsers } from "./parsers.ts"
import { programOf, type Use } from "./programs.ts"
import { baseName, neverAlways, shellChanging, unwrapPlain } from "./wrappers.ts"

/** A file that a segment names, from the root of the disk. */
export interface NamedFile {
  readonly kind: "read" | "write"
  readonly path: string
  /** It is only likely that this word names a file. */
  readonly guessed?: boolean
  /** Written by the shell, whatever the program is. */
  readonly redirected?: boolean
}

/** A segment of which it is certain what it runs and what files it names. */
export interface ProvedSegment {
  /** As the shell hands them on, without a wrapper that changes nothing. */
  readonly words: readonly string[]
  /** The same with one wrapper and more, where there are such. */
  readonly wrapped: readonly (readonly string[])[]
  readonly files: readonly NamedFile[]
}

export interface ProofOptions {
  readonly workspace: string
  /** The folder the script runs in. */
  readonly folder: string
  readonly allow: CommandList
  readonly disk: Disk
}

/** What a script runs, when that can be said for certain by its words alone. */
export function prove(script: string, parsers: Parsers, options: ProofOptions): readonly ProvedSegment[] | Unread {
  const lexed = readPlain(script, parsers)
  if ("because" in lexed) return lexed
  const { segments, joins } = lexed.line
  const { folder, workspace, disk } = options
  const real = disk.realpath(folder) ?? folder
  const folders = foldersOf(segments, joins, real === folder ? [folder] : [folder, real])
  if (folders === undefined) return { because: "it is not clear where a 'cd' in it leads" }
  const targets = segments.flatMap((segment, at) => cdTargets(segment, folders[at]!))
  const outside = [...folders.flat(), ...targets].find((one) => !isInside(disk.realpath(one) ?? one, workspace))
  if (outside !== undefined) return { because: `it changes to the folder '${outside}' outside the workspace` }
  if (folders.some(({ length }) => length > 8)) return { because: "it changes folders too often" }
  const proved: ProvedSegment[] = []
  for (const [at, segment] of segments.entries()) {
    const one = proveSegment(segment, folders[at]!, options)
    if ("because" in one) return one
    proved.push(one)
  }
  const makes = proved.some(({ files }) => files.some(({ kind }) => kind === "write"))
  const looks = segments.some(({ words }) => words.some(({ glob }) => glob !== -1))
  // What fits a pattern was looked up before anything ran.
  return makes && looks ? { because: "a file that it makes could fit its pattern" } : proved
}

/** A `cd` counts also where nothing runs after it. */
function cdTargets(segment: Segment, folders: readonly string[]): string[] {
  if (segment.words[0]!.value !== "cd") return []
  const target = cdTarget(segment)
  return folders.map((folder) => (target === undefined ? "/" : posix.resolve(folder, target)))
}

/** Three readings of the script, and all of them the same. */
function readPlain(script: string, parsers: Parsers): Lexed | Unread {
  const lexed = lex(script)
  if ("because" in lexed) return lexed
  for (const pieces of [parsers.readTree(lexed.script), parsers.readUnbash(lexed.script)])
    if (pieces === undefined || !isSameLine(lexed.pieces, pieces))
      return { because: "it can be read in more than one way" }
  return lexed
}

function proveSegment(segment: Segment, folders: readonly string[], options: ProofOptions): ProvedSegment | Unread {
  const variable = opaqueVariable(Object.fromEntries(segment.assignments.map(({ name, value }) => [name, value])))
  if (variable !== undefined) return { because: `the variable '${variable}' may change what runs` }
  const all = segment.words.map(({ value }) => value)
  const starts = wrappedStarts(all)
  const start = starts.at(-1)!
  const words = all.slice(start)
  const use = useOf(segment.words.slice(start), words, options)
  if ("because" in use) return { because: `${use.because}, in '${shown(all)}'` }
  const files: NamedFile[] = []
  for (const folder of folders) {
    const named = filesOf(segment, use, folder, options)
    if ("because" in named) return { because: `${named.because}, in '${shown(all)}'` }
    files.push(...named)
  }
  return { words, files: unique(files), wrapped: starts.slice(0, -1).map((one) => all.slice(one)) }
}

/** Where the program begins, and before it each wrapper that changes nothing. */
function wrappedStarts(words: readonly string[]): number[] {
  const starts = [0]
  for (;;) {
    const next = unwrapPlain(words.slice(starts.at(-1)))
    if (next === 0) return starts
    starts.push(starts.at(-1)! + next)
  }
}

/** What a program uses: as its table says or, for one without a table, what looks like a path among its words. */
function useOf(given: readonly Word[], words: readonly string[], { allow }: ProofOptions): KnownUse | Unread {
  const [program = "", ...args] = words
  if (program === "cd") return { reads: given.slice(1), known: true }
  const entry = allow.naming(words)
  const named = entry !== undefined && entry.words.length > 1 && !entry.words.at(-1)!.startsWith("-")
  const table = programOf(baseName(program))
  if (table !== undefined && baseName(program) === posix.basename(program)) {
    if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
    const use = table(given.slice(1))
    return "because" in use ? use : { ...withPatterns(use, given), known: true }
  }
  if (shellChanging.has(program)) return { because: `'${program}' changes what the shell does next` }
  if (neverAlways(program) && !named) return { because: `'${program}' runs whatever it is given` }
  if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
  const odd = given.slice(1).find(({ glob }) => glob === 0)
  if (odd !== undefined) return { because: `the pattern '${odd.value}' could stand for an option` }
  return { guesses: args.flatMap(pathsIn), known: false }
}

interface KnownUse extends Use {
  readonly known: boolean
  readonly guesses?: readonly string[]
}

/** A pattern reads the folder it is looked for in, also for programs that only print it. */
function withPatterns(use: Use, given: readonly Word[]): Use {
  const patterns = given.filter(({ glob, value }) => glob !== -1 && !value.startsWith("-"))
  const others = patterns.filter((word) => ![use.reads, use.writes, use.walks].some((list) => list?.includes(word)))
  return others.length === 0 ? use : { ...use, reads: [...(use.reads ?? []), ...others] }
}

/** What of a word may be a path: all of it, and what stands behind `=` or an option's letter. */
function pathsIn(word: string): string[] {
  if (word.includes("://")) return []
  const value = /^[^=/]*=(.*)$/.exec(word)?.[1]
  const candidates = word.startsWith("-") ? [value ?? "", word.slice(2)] : [word, value ?? ""]
  return candidates.filter((text) => text !== "" && !text.startsWith("-"))
}

function filesOf(segment: Segment, use: KnownUse, folder: string, options: ProofOptions): NamedFile[] | Unread {
  const { disk, workspace } = options
  const files: NamedFile[] = []
  if (use.repository === true && hasOddRepository(folder, workspace, disk))
    return { because: "git would find the settings of another repository" }
  const groups = [
    ["read", use.reads ?? []],
    ["write", use.writes ?? []],
    ["read", use.walks ?? []],
  ] as const
  for (const [kind, words] of groups) {
    for (const word of words) {
      const paths = expand(word, folder, disk)
      if (paths === undefined) return { because: `the pattern '${word.value}' stands for too many or hidden files` }
      const option = paths.find((path) => path.startsWith("-") && word.glob !== -1)
      if (option !== undefined) return { because: `the pattern '${word.value}' stands for '${option}'` }
      files.push(...paths.map((path) => ({ kind, path: placeIn(folder, path, disk) })))
    }
  }
  for (const { value } of use.tops ?? []) files.push({ kind: "read", path: placeIn(workspace, value, disk) })
  const walked = walkedFiles(use, folder, disk)
  if ("because" in walked) return walked
  const redirected = segment.redirects.flatMap((redirect) => redirectFile(redirect, folder, disk) ?? [])
  const guessed = (use.guesses ?? []).filter((path) => looksLikePath(path, folder, disk))
  return [
    ...files,
    ...walked,
    ...redirected,
    ...guessed.map((path) => ({ kind: "read" as const, path: placeIn(folder, path, disk), guessed: true })),
  ]
}

/** What is read when a folder is read with all that is in it. Programs that follow links on the way are not proved. */
function walkedFiles({ walks = [], hidden = false }: KnownUse, folder: string, disk: Disk): NamedFile[] | Unread {
  const files: NamedFile[] = []
  for (const word of walks) {
    for (const value of expand(word, folder, disk) ?? []) {
      const tree = disk.tree(placeIn(folder, value, disk), hidden)
      if (tree === undefined)
        return { because: `there is too much in '${value}' to look at; search_files needs no asking` }
      for (const path of tree) files.push({ kind: "read", path })
    }
  }
  return files
}

function redirectFile({ operator, target }: Redirect, folder: string, disk: Disk): NamedFile | undefined {
  if (operator === "<<" || operator === "<<<" || operator === ">&" || operator === "<&") return undefined
  if (target.value === "/dev/null") return undefined
  const path = placeIn(folder, target.value, disk)
  return operator === "<" ? { kind: "read", path } : { kind: "write", path, redirected: true }
}

function looksLikePath(text: string, folder: string, disk: Disk): boolean {
  return text.includes("/") || text.startsWith(".") || disk.isFile(posix.resolve(folder, text))
}

function unique(files: readonly NamedFile[]): NamedFile[] {
  return [...new Map(files.map((file) => [`${file.kind} ${file.path}`, file])).values()]
}

function isInside(path: string, workspace: string): boolean {
  return path === workspace || path.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`)
}

/** Words as a sentence shows them. */
export function shown(words: readonly string[]): string {
  const text = words.join(" ")
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
