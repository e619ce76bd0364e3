import { posix } from "node:path"
import type { Unprovable, Word } from "./shell-line.ts"
import { readFind, readTest } from "./find.ts"
import { readGit } from "./git.ts"
import { readOptions, type OptionTable } from "./program-options.ts"
import { currentFolder, unprovable, isFileOperand, programReader } from "./program-reader.ts"
import { grep, ripgrep } from "./grep.ts"

/** The use of files and programs by a program with given arguments. */
export interface ProgramUse {
  readonly reads?: readonly Word[]
  readonly writes?: readonly Word[]
  /** Folders that are read with everything in them. */
  readonly recursiveReads?: readonly Word[]
  /** Files relative to the workspace, wherever the program runs. */
  readonly workspaceReads?: readonly Word[]
  /** The program uses the git repository of its folder, with its settings. */
  readonly repository?: boolean
  /** Folders of packages whose scripts the program runs. */
  readonly packages?: readonly Word[]
  /** With piped input the program reads that instead of `recursiveReads`. */
  readonly readsInputInstead?: boolean
  /** The folder that the program changes to first. */
  readonly changesTo?: Word
  /** Arguments that may or may not name files. */
  readonly guesses?: readonly string[]
}

/** Returns what a program uses with these arguments, or why that is unknown. */
export type Program = (args: readonly Word[]) => ProgramUse | Unprovable

/** The table of a program; undefined for an unknown program. */
export function programOf(name: string): Program | undefined {
  return programs.get(name)
}

const files = (table: OptionTable) =>
  programReader(table, ({ operands }) => ({ reads: operands.filter(isFileOperand) }))
/** Programs that only read, with any option. */
const readers = (table: OptionTable) => files({ ...table, patterns: true })
const recursiveReaders = (table: OptionTable) =>
  programReader(table, ({ operands }) => ({ recursiveReads: operands.filter(isFileOperand) }))
const texts = (table: OptionTable) => programReader(table, () => ({}))
const writers = (table: OptionTable) => programReader(table, ({ operands }) => ({ writes: operands }))

const any: OptionTable = { letters: "*", names: "*" }

/** `sed -n '5,10p'` prints lines; any other script could run a program or write a file. */
const sed = programReader({ letters: "n", names: "quiet silent" }, ({ operands: [script, ...named], given }) =>
  given.size > 0 && script?.glob === -1 && /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(script.value)
    ? { reads: named.filter(isFileOperand) }
    : unprovable("the sed script may run something or open files"),
)

/** A program whose arguments are not checked, because it runs or opens them. */
const opaque =
  (name: string): Program =>
  () =>
    unprovable(`'${name}' runs its arguments as code or as another command`)

const tar: Program = (args) => {
  const spelled = withDashes(args)
  if ("because" in spelled) return spelled
  const read = readOptions(spelled, {
    letters: "tvzjJa",
    valued: "f",
    names: "list verbose gzip bzip2 xz zstd auto-compress",
    valuedNames: "file",
    reading: "f file",
  })
  if ("because" in read) return read
  if (!read.given.has("t") && !read.given.has("list")) return unprovable("tar writes files")
  // `host:file` is fetched by another program.
  if (read.reads.some(({ value }) => value.includes(":"))) return unprovable("the archive's name has a ':'")
  return { reads: read.reads }
}

/** Without a dash the first word is a bundle of option letters, and each `f` takes one of the following words. */
function withDashes(args: readonly Word[]): readonly Word[] | Unprovable {
  const [first, ...rest] = args
  if (first === undefined || !/^[a-z]+$/i.test(first.value)) return args
  const letters = first.value.replaceAll("f", "")
  if (first.value.length - letters.length > 1) return unprovable("tar is given two archives")
  const dashed = letters === "" ? [] : [{ value: `-${letters}`, glob: -1 }]
  return letters === first.value ? [...dashed, ...rest] : [...dashed, { value: "-f", glob: -1 }, ...rest]
}

const printf: Program = (args) => {
  const [format] = args
  if (format === undefined || format.glob !== -1 || format.value.startsWith("-"))
    return unprovable("printf with options may set a variable")
  if (/%[-+ #0-9.*'hlLjztq]*n/.test(format.value)) return unprovable("'%n' sets a variable")
  if (args.some(({ value }) => /\[[^]*[$`]/.test(value))) return unprovable("an index in it could be evaluated")
  return {}
}

const man = programReader({ letters: "kfaw", names: "version help" }, ({ operands }) =>
  operands.every(({ value, glob }) => glob === -1 && /^[\w.+:[][\w.+:-]*$/.test(value))
    ? {}
    : unprovable("man is given a file"),
)

/** Runs the scripts of the package. Options that could name another shell, folder or file are refused. */
const npm = programReader(
  {
    letters: "s",
    valued: "w",
    names:
      "silent if-present workspaces include-workspace-root verbose quiet no-color color ignore-scripts json long depth all version help",
    valuedNames: "workspace loglevel",
  },
  ({ values }) => {
    const workspaces = values.flatMap(([name, value]) => (name === "loglevel" ? [] : [{ value, glob: -1 }]))
    return { packages: [currentFolder, ...workspaces] }
  },
)
const npmRun: Program = (args) => {
  const end = args.findIndex(({ value }) => value === "--")
  const own = end === -1 ? args : args.slice(0, end)
  const running = own.find(({ value }) => npmRunning.has(value))
  if (running !== undefined) return unprovable(`'${running.value}' may run any package or change settings`)
  const use = npm(own)
  return "because" in use || end === -1 ? use : { ...use, guesses: args.slice(end + 1).map(({ value }) => value) }
}

const jq = programReader(
  {
    letters: "rcnsSeMCjaR",
    names:
      "raw-output compact-output null-input slurp sort-keys exit-status tab color-output monochrome-output join-output ascii-output raw-input",
  },
  ({ operands: [filter, ...named] }) =>
    filter === undefined || filter.glob !== -1 || /\b(?:include|import|debug|input_filename)\b/.test(filter.value)
      ? unprovable("the filter of jq may read other files")
      : { reads: named },
)

/** Runs recipes of the folder's Makefile only: a variable or another file could do anything. */
const make = programReader(
  { letters: "BiknqsS", attached: "jl", names: "silent quiet dry-run keep-going always-make" },
  ({ operands }) =>
    operands.every(({ value, glob }) => glob === -1 && /^[\w./-]+$/.test(value))
      ? { packages: [currentFolder] }
      : unprovable("a variable is given to make"),
)

const npmRunning = new Set("exec x dlx config c set explore edit init create node".split(" "))

const copy = programReader({ letters: "afinprRuvPdx" }, ({ operands, given }) => {
  const targets = targetsOf(operands)
  if ("because" in targets) return targets
  const sources = operands.slice(0, -1)
  if (sources.some(({ value }) => value.endsWith(".")))
    return unprovable("it copies everything in a folder into another")
  const isDeep = ["a", "r", "R"].some((letter) => given.has(letter))
  return { ...(isDeep ? { recursiveReads: sources } : { reads: sources }), writes: targets }
})

const move = programReader({ letters: "finuv" }, ({ operands }) => {
  const targets = targetsOf(operands)
  return "because" in targets ? targets : { writes: [...operands, ...targets] }
})

/** The targets of cp and mv: the last operand and, in case it is a folder, the sources' names in it. */
function targetsOf(operands: readonly Word[]): Word[] | Unprovable {
  const target = operands.at(-1)
  if (operands.length < 2 || target === undefined || operands.some(({ glob }) => glob !== -1))
    return unprovable("it is not clear which files it writes")
  const inside = operands.slice(0, -1).map(({ value }) => `${target.value}/${posix.basename(value)}`)
  return [target, ...inside.map((value) => ({ value, glob: -1 }))]
}

const list = programReader(
  { ...any, valued: "ITw", valuedNames: "ignore hide block-size sort time" },
  ({ operands, given }) => {
    // Option names may be abbreviated.
    const has = (letter: string, name: string) =>
      given.has(letter) || [...given].some((option) => option.length > 1 && name.startsWith(option))
    if (has("R", "recursive") && has("L", "dereference")) return unprovable("'ls -RL' follows links to anywhere")
    return { reads: operands.filter(isFileOperand) }
  },
)

const programs = new Map<string, Program>(
  Object.entries({
    ls: list,
    cat: files(any),
    tac: readers({ letters: "br", valued: "s" }),
    nl: readers({ letters: "p", valued: "bdfhilnsvw" }),
    wc: readers({ letters: "clmwL", names: "bytes chars lines words max-line-length total version help" }),
    head: readers({ letters: "qvz", valued: "nc", names: "quiet silent verbose", valuedNames: "lines bytes", counts: true }),
    tail: readers({ letters: "qvz", valued: "nc", names: "quiet silent verbose", valuedNames: "lines bytes", counts: true }),
    cut: readers({ letters: "ns", valued: "bcdf", names: "complement only-delimited", valuedNames: "bytes characters delimiter fields output-delimiter" }),
    tr: texts({ letters: "cCdst", names: "complement delete squeeze-repeats truncate-set1" }),
    rev: files({}),
    fold: files({ letters: "bs", valued: "w", valuedNames: "width", names: "spaces bytes" }),
    paste: files({ letters: "sz", valued: "d", valuedNames: "delimiters", names: "serial" }),
    join: files({ letters: "iz", valued: "aejotv12" }),
    comm: files({ letters: "123z", names: "check-order nocheck-order total" }),
    cmp: files({ letters: "bls", valued: "in", names: "silent quiet verbose print-bytes" }),
    // diff compares the content of two folders.
    diff: recursiveReaders({ letters: "abBcdEiNpqsTtuwyZ", valued: "UCIxW", names: "brief report-identical-files side-by-side unified context new-file ignore-case ignore-all-space ignore-space-change ignore-blank-lines text color minimal suppress-common-lines", valuedNames: "exclude width" }),
    column: files({ letters: "tx", valued: "sco" }),
    od: files({ letters: "abcdfiloxv", valued: "AjNt", attached: "w" }),
    hexdump: files({ letters: "bcCdovx", valued: "ns" }),
    strings: programReader({ letters: "af", valued: "nt" }, ({ operands }) => (operands.some(({ value }) => value.startsWith("@")) ? unprovable("'@' stands for words in a file") : { reads: operands.filter(isFileOperand) })),
    stat: readers({ letters: "Lft", valued: "c", names: "dereference file-system terse", valuedNames: "format printf" }),
    du: readers({ letters: "abchHklmsSx0P", valued: "dBt", names: "all apparent-size bytes total human-readable si summarize separate-dirs one-file-system time", valuedNames: "max-depth block-size exclude threshold" }),
    df: files({ letters: "ahHiklPT", names: "all human-readable inodes local portability print-type total" }),
    md5sum: readers({ letters: "btz", names: "binary text tag zero" }),
    sha1sum: readers({ letters: "btz", names: "binary text tag zero" }),
    sha256sum: readers({ letters: "btz", names: "binary text tag zero" }),
    sha512sum: readers({ letters: "btz", names: "binary text tag zero" }),
    cksum: files({}),
    realpath: files({ letters: "emsLPqz", names: "canonicalize-existing canonicalize-missing strip no-symlinks quiet" }),
    readlink: files({ letters: "femnqsvz", names: "canonicalize no-newline" }),
    sort: files({ letters: "bdfghiMnRrVcCmsuz", valued: "ktS", names: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort numeric-sort month-sort random-sort reverse version-sort check merge stable unique zero-terminated", valuedNames: "key field-separator sort" }),
    file: files({ letters: "bhikLNnprsv0", valued: "F", names: "brief mime mime-type mime-encoding extension keep-going dereference no-dereference version help", valuedNames: "separator" }),
    base64: files({ letters: "di", valued: "w", names: "decode ignore-garbage", valuedNames: "wrap" }),
    uniq: programReader({ letters: "cdDiuz", valued: "fsw", names: "count repeated unique ignore-case zero-terminated", valuedNames: "skip-fields skip-chars check-chars" }, ({ operands: [from, to] }) => (from !== undefined && from.glob !== -1 ? unprovable("the second file would be written") : { reads: from === undefined ? [] : [from], writes: to === undefined ? [] : [to] })),
    grep, egrep: grep, fgrep: grep, rg: ripgrep,
    sed, tar, printf, man,
    find: readFind, test: readTest, "[": readTest,
    git: readGit,
    ...Object.fromEntries(["awk", "gawk", "mawk", "xargs"].map((name) => [name, opaque(name)])),
    npm: npmRun, pnpm: npmRun, yarn: npmRun,
    tee: programReader({ letters: "a", names: "append" }, ({ operands }) => ({ writes: operands })),
    touch: writers({ letters: "acm", names: "no-create" }),
    mkdir: writers({ letters: "pv", names: "parents verbose" }),
    rmdir: writers({ letters: "pv", names: "parents verbose" }),
    rm: writers({ letters: "dfirRvI", names: "force recursive verbose dir interactive" }),
    cp: copy, mv: move,
    echo: texts(any), pwd: texts(any), true: texts(any), false: texts(any), ":": texts(any),
    basename: texts({ ...any, valued: "s" }), dirname: texts(any),
    which: texts({ letters: "a" }), type: texts({ letters: "aptPf" }),
    whoami: texts({}), id: texts({ letters: "gGnruz" }), uname: texts({ letters: "asnrvmpio" }),
    seq: texts({ letters: "w", valued: "fs", counts: true }), sleep: texts({}), nproc: texts({ names: "all", valuedNames: "ignore" }),
    date: programReader({ letters: "uIR", valued: "dr", names: "utc universal rfc-email iso-8601 rfc-3339", valuedNames: "date reference", reading: "r reference" }, ({ operands }) => (operands.every(({ value }) => value.startsWith("+")) ? {} : unprovable("date may set the clock"))),
    exit: texts({}),
    jq, make, command: programReader({ letters: "vV" }, ({ given }) => (given.size === 0 ? unprovable("'command' runs its arguments") : {})),
  } satisfies Record<string, Program>),
) // prettier-ignore
