import { posix } from "node:path"
import { expand, placeIn, type Disk } from "./disk.ts"
import { opaqueVariable } from "./environment.ts"
import { cdTarget, foldersOf } from "./folders.ts"
import { isSieve, readXargs, useOfHanded, type Handed } from "./handed.ts"
import { lex, type Lexed } from "./lexer.ts"
import { isSameLine, type Join, type Redirect, type Segment, type Unread, type Word } from "./line.ts"
import { plainWords, type CommandList } from "./lists.ts"
import { filesOf, isInside, unique, type NamedFile } from "./named-files.ts"
import type { Parsers } from "./parsers.ts"
import { programOf, type Use } from "./programs.ts"
import { roundsOf } from "./rounds.ts"
import { baseName, neverAlways, shellChanging, unwrapPlain } from "./wrappers.ts"

/** A segment of which it is certain what it runs and what files it names. */
export interface ProvedSegment {
  /** As the shell hands them on, without a wrapper that changes nothing. */
  readonly words: readonly string[]
  /** The same with one wrapper and more, where there are such, and without options that change nothing. */
  readonly wrapped: readonly (readonly string[])[]
  readonly files: readonly NamedFile[]
  /** What the line itself gives it to read. */
  readonly texts?: readonly string[]
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
  const { folder, workspace, disk } = options
  const rounds = roundsOf(lexed.line, folder, disk)
  if ("because" in rounds) return rounds
  const { segments, joins, patterns } = rounds
  const real = disk.realpath(folder) ?? folder
  const folders = foldersOf(segments, joins, real === folder ? [folder] : [folder, real])
  if (folders === undefined) return { because: "it is not clear where a 'cd' in it leads" }
  const targets = segments.flatMap((segment, at) => cdTargets(segment, folders[at]!))
  const outside = [...folders.flat(), ...targets].find((one) => !isInside(disk.realpath(one) ?? one, workspace))
  if (outside !== undefined) return { because: `it changes to the folder '${outside}' outside the workspace` }
  if (folders.some(({ length }) => length > 8)) return { because: "it changes folders too often" }
  const proved: ProvedSegment[] = []
  for (const [at, segment] of segments.entries()) {
    const some = proveSegment(segment, pipedInto(segments, joins, at), folders[at]!, options)
    if ("because" in some) return some
    proved.push(...some)
  }
  proved[0] = withLooked(proved[0]!, patterns, options)
  const makes = proved.some(({ files }) => files.some(({ kind }) => kind === "write"))
  const hands = segments.some(({ words }) => words.some(({ value }) => /^(?:xargs|-exec|rg)$/.test(value)))
  const looks = hands || patterns.length > 0 || segments.some(({ words }) => words.some(({ glob }) => glob !== -1))
  // What is found was looked up before anything ran, also what brings hidden files back for rg.
  return makes && looks ? { because: "a file that it makes could change what it finds" } : proved
}

/** A pattern of a loop reads the folder it is looked for in, whatever the loop does with the names. */
function withLooked(first: ProvedSegment, patterns: readonly Word[], { folder, disk }: ProofOptions): ProvedSegment {
  const paths = patterns.flatMap((pattern) => expand(pattern, folder, disk) ?? [])
  const looked = paths.map((path): NamedFile => ({ kind: "read", path: placeIn(folder, path, disk) }))
  return looked.length === 0 ? first : { ...first, files: unique([...first.files, ...looked]) }
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

/** A segment and, behind it, what it runs with the names it finds. `piped` is what writes into it, the nearest first. */
function proveSegment(
  segment: Segment,
  piped: readonly Segment[],
  folders: readonly string[],
  options: ProofOptions,
): readonly ProvedSegment[] | Unread {
  const variable = opaqueVariable(Object.fromEntries(segment.assignments.map(({ name, value }) => [name, value])))
  if (variable !== undefined) return { because: `the variable '${variable}' may change what runs` }
  const all = segment.words.map(({ value }) => value)
  const starts = wrappedStarts(all)
  const start = starts.at(-1)!
  const words = all.slice(start)
  const wrapped = starts.slice(0, -1).map((one) => all.slice(one))
  if (words[0] === "xargs") {
    const handed = handedBy(segment, start, piped, options)
    if ("because" in handed) return { because: `${handed.because}, in '${shown(all)}'` }
    const one = proveHanded(handed, segment.redirects, folders, options)
    return "because" in one ? one : [{ ...one, wrapped: [...wrapped, words] }]
  }
  // `time` is a word of the shell, and then this changes the folder for all that follows.
  if (words[0] === "cd" && start > 0) return { because: `it is not clear where a 'cd' in it leads` }
  const use = useOf(segment.words.slice(start), words, options)
  if ("because" in use) return { because: `${use.because}, in '${shown(all)}'` }
  const isGiven = piped.length > 0 && !segment.redirects.some(({ operator }) => operator.includes("<"))
  const used = isGiven && use.orInput === true ? { ...use, walks: [] } : use
  const files = filesIn(folders, (folder) => filesOf(segment.redirects, used, folder, options))
  if ("because" in files) return { because: `${files.because}, in '${shown(all)}'` }
  const plain = plainWords(words)
  const texts = segment.redirects.flatMap(({ operator, target }) => (operator.startsWith("<<") ? [target.value] : []))
  const proved: ProvedSegment[] = [{ words, files, texts, wrapped: plain === words ? wrapped : [...wrapped, plain] }]
  for (const run of use.runs ?? []) {
    const one = proveHanded({ ...run, always: false }, [], folders, options)
    if ("because" in one) return one
    proved.push(one)
  }
  return proved
}

/** The parts of its pipeline before a segment, the nearest first. */
function pipedInto(segments: readonly Segment[], joins: readonly Join[], at: number): readonly Segment[] {
  const before: Segment[] = []
  for (let one = at - 1; one >= 0 && joins[one] === "|"; one--) before.push(segments[one]!)
  return before
}

/** What `xargs` runs, where a part before it prints names and nothing else, and the parts between leave some of them out. */
function handedBy(
  { words, redirects }: Segment,
  start: number,
  piped: readonly Segment[],
  options: ProofOptions,
): Handed | Unread {
  const because = "'xargs' runs whatever it is given"
  const read = readXargs(words.slice(start + 1))
  if ("because" in read) return read
  if (redirects.some(({ operator }) => operator.includes("<"))) return { because }
  for (const segment of piped) {
    // Complaints among the names would be taken for names.
    if (segment.redirects.some((one) => one.operator !== ">" || one.descriptor !== "2")) return { because }
    if (read.end === "\n" && isSieve(segment)) continue
    const values = segment.words.map(({ value }) => value)
    const use = programOf(values[0]!) === undefined ? undefined : useOf(segment.words, values, options)
    if (use === undefined || "because" in use || use.prints?.end !== read.end) return { because }
    return { words: read.words, names: use.prints.names, always: read.always }
  }
  return { because }
}

function proveHanded(
  handed: Handed,
  redirects: readonly Redirect[],
  folders: readonly string[],
  options: ProofOptions,
): ProvedSegment | Unread {
  const words = handed.words.map(({ value }) => value)
  const files = filesIn(folders, (folder) => {
    const use = useOfHanded(handed, folder, options.disk)
    return "because" in use ? use : filesOf(redirects, use, folder, options)
  })
  return "because" in files ? { because: `${files.because}, in '${shown(words)}'` } : { words, files, wrapped: [] }
}

function filesIn(
  folders: readonly string[],
  of: (folder: string) => readonly NamedFile[] | Unread,
): readonly NamedFile[] | Unread {
  const files: NamedFile[] = []
  for (const folder of folders) {
    const named = of(folder)
    if ("because" in named) return named
    files.push(...named)
  }
  return unique(files)
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
function useOf(given: readonly Word[], words: readonly string[], { allow }: ProofOptions): Use | Unread {
  const [program = "", ...args] = words
  const varying = given.find(({ varies }) => varies === true)
  if (varying !== undefined)
    return printing(program, given) ?? { because: `the value of '${varying.value}' is not known` }
  if (program === "cd") return { reads: given.slice(1) }
  const entry = allow.naming(words)
  const named = entry !== undefined && entry.words.length > 1 && !entry.words.at(-1)!.startsWith("-")
  const table = programOf(baseName(program))
  if (table !== undefined && baseName(program) === posix.basename(program)) {
    if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
    const use = table(given.slice(1))
    return "because" in use ? use : withPatterns(use, given)
  }
  if (shellChanging.has(program)) return { because: `'${program}' changes what the shell does next` }
  if (neverAlways(program) && !named) return { because: `'${program}' runs whatever it is given` }
  if (program.includes("/") && entry === undefined) return { because: `'${program}' is run by its path` }
  const odd = given.slice(1).find(({ glob }) => glob === 0)
  if (odd !== undefined) return { because: `the pattern '${odd.value}' could stand for an option` }
  return { guesses: args }
}

/** What only prints its words may be given any; and how the last command ended is a number. */
function printing(program: string, given: readonly Word[]): Use | Unread | undefined {
  // A pattern behind it would be looked for wherever the variable leads.
  if (given.some(({ varies, glob }) => varies === true && glob !== -1)) return undefined
  const isTest = program === "test" || program === "["
  const numbers = given.map((word) => (word.value === "$?" && word.varies === true ? { value: "0", glob: -1 } : word))
  if (isTest && !numbers.some(({ varies }) => varies === true)) return programOf(program)!(numbers.slice(1))
  const isPrinter = program === "echo" || (program === "printf" && given[1]?.varies !== true)
  if (!isPrinter) return undefined
  const use = programOf(program)!(given.slice(1))
  return "because" in use ? use : withPatterns(use, given)
}

/** A pattern reads the folder it is looked for in, also for programs that only print it. */
function withPatterns(use: Use, given: readonly Word[]): Use {
  const patterns = given.filter(({ glob, value }) => glob !== -1 && !value.startsWith("-"))
  const others = patterns.filter((word) => ![use.reads, use.writes, use.walks].some((list) => list?.includes(word)))
  return others.length === 0 ? use : { ...use, reads: [...(use.reads ?? []), ...others] }
}

/** Words as a sentence shows them. */
export function shown(words: readonly string[]): string {
  const text = words.join(" ")
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
