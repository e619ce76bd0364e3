import { posix } from "node:path"
import { readAwk } from "./awk.ts"
import type { Disk } from "./disk.ts"
import type { Unread, Word } from "./line.ts"
import { readFind, readTest } from "./find.ts"
import { readGit } from "./git.ts"
import { readOptions, type OptionTable } from "./options.ts"
import { here, is, isFile, reader } from "./reader.ts"
import { grep, ripgrep } from "./searching.ts"
import { isPlainSed } from "./sed.ts"

/** What a program will use besides its own words. */
export interface Use {
  readonly reads?: readonly Word[]
  readonly writes?: readonly Word[]
  /** Folders that are read with all that is in them. */
  readonly walks?: readonly Word[]
  /** Files that are named from the top of the workspace, wherever the program runs. */
  readonly tops?: readonly Word[]
  /** Whether names that begin with a dot are read on such a walk. */
  readonly hidden?: boolean
  /** It reads hidden files with these names all the same, and those that ignore files on the way bring back. */
  readonly unhides?: readonly string[]
  /** It looks for settings in the folder it runs in and in those above. */
  readonly repository?: boolean
  /** Folders of packages whose scripts it runs. */
  readonly packages?: readonly Word[]
  /** It walks only where nothing is piped into it. */
  readonly orInput?: boolean
  /** The folder it changes to before it does anything else. */
  readonly within?: Word
  /** The names that it prints and nothing else, each with this end. */
  readonly prints?: { readonly end: "\n" | "\0"; readonly names: Names }
  /** Commands that it runs, each with these names behind its words. */
  readonly runs?: readonly { readonly words: readonly Word[]; readonly names: Names }[]
  /** Words for another program, of which it is only likely that they name files. */
  readonly guesses?: readonly string[]
}

/** Names as they are written in a folder, rather too many; undefined when nobody can tell. */
export type Names = (folder: string, disk: Disk) => readonly string[] | undefined

/** Says what a program uses with these arguments, or that nobody can tell. */
export type Program = (args: readonly Word[]) => Use | Unread

/** What is known of a program; undefined for a program nobody here knows. */
export function programOf(name: string): Program | undefined {
  return programs.get(name)
}

const files = (table: OptionTable) => reader(table, ({ operands }) => ({ reads: operands.filter(isFile) }))
/** Programs that only read, whatever the option. */
const readers = (table: OptionTable) => files({ ...table, patterns: true })
const walker = (table: OptionTable) =>
  reader(table, ({ operands }) => ({ walks: operands.filter(isFile), hidden: true }))
const texts = (table: OptionTable) => reader(table, () => ({}))
const made = (table: OptionTable) => reader(table, ({ operands }) => ({ writes: operands }))

const any: OptionTable = { letters: "*", names: "*" }

const sed = reader(
  {
    letters: "nErsuz",
    valued: "e",
    names: "quiet silent regexp-extended separate unbuffered null-data posix sandbox version help",
    valuedNames: "expression",
  },
  ({ operands }) => ({ reads: operands }),
)

/** The scripts are looked at one by one; the first operand is one unless `-e` gives them. */
function readSed(args: readonly Word[]): Use | Unread {
  const scripts: Word[] = []
  const rest: Word[] = []
  for (let at = 0; at < args.length; at++) {
    const { value } = args[at]!
    if (value === "--") {
      rest.push(...args.slice(at))
      break
    }
    const inline = /^--expression=([^]*)$/.exec(value)?.[1]
    if (inline !== undefined) scripts.push({ value: inline, glob: -1 })
    else if (value === "--expression" || /^-[nErsuz]*e$/.test(value)) scripts.push(args[++at] ?? here)
    else if (/^-[nErsuz]*e/.test(value)) scripts.push({ value: value.slice(value.indexOf("e") + 1), glob: -1 })
    else rest.push(args[at]!)
  }
  const read = sed(rest)
  if ("because" in read) return read
  const operands = [...(read.reads ?? [])]
  if (scripts.length === 0) {
    const [first] = operands.splice(0, 1)
    if (first === undefined) return is("sed is given no script")
    scripts.push(first)
  }
  const odd = scripts.find(({ value, glob }) => glob !== -1 || !isPlainSed(value))
  if (odd !== undefined) return is(`the sed script '${odd.value}' may run something or open files`)
  return { reads: operands.filter(isFile) }
}

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
  if (!read.given.has("t") && !read.given.has("list")) return is("tar writes files")
  // `host:file` is fetched by another program.
  if (read.reads.some(({ value }) => value.includes(":"))) return is("the archive's name has a ':'")
  return { reads: read.reads }
}

/** Without a dash the first word is a bundle of letters, of which each `f` takes one of the words behind it. */
function withDashes(args: readonly Word[]): readonly Word[] | Unread {
  const [first, ...rest] = args
  if (first === undefined || !/^[a-z]+$/i.test(first.value)) return args
  const letters = first.value.replaceAll("f", "")
  if (first.value.length - letters.length > 1) return is("tar is given two archives")
  const dashed = letters === "" ? [] : [{ value: `-${letters}`, glob: -1 }]
  return letters === first.value ? [...dashed, ...rest] : [...dashed, { value: "-f", glob: -1 }, ...rest]
}

const printf: Program = (args) => {
  const [format] = args
  if (format === undefined || format.glob !== -1 || format.value.startsWith("-"))
    return is("printf with options may set a variable")
  if (/%[-+ #0-9.*'hlLjztq]*n/.test(format.value)) return is("'%n' sets a variable")
  if (args.some(({ value }) => /\[[^]*[$`]/.test(value))) return is("an index in it could be evaluated")
  return {}
}

const man = reader({ letters: "kfaw", names: "version help" }, ({ operands }) =>
  operands.every(({ value, glob }) => glob === -1 && /^[\w.+:[][\w.+:-]*$/.test(value))
    ? {}
    : is("man is given a file"),
)

/** Runs the scripts of the package; its own settings could name another shell, folder or file. */
const npm = reader(
  {
    letters: "s",
    valued: "w",
    names:
      "silent if-present workspaces include-workspace-root verbose quiet no-color color ignore-scripts json long depth all version help",
    valuedNames: "workspace loglevel",
  },
  ({ values }) => {
    const others = values.flatMap(([name, value]) => (name === "loglevel" ? [] : [{ value, glob: -1 }]))
    return { packages: [here, ...others] }
  },
)
const npmRun: Program = (args) => {
  const end = args.findIndex(({ value }) => value === "--")
  const own = end === -1 ? args : args.slice(0, end)
  const running = own.find(({ value }) => npmRunning.has(value))
  if (running !== undefined) return is(`'${running.value}' may run any package or change settings`)
  const use = npm(own)
  return "because" in use || end === -1 ? use : { ...use, guesses: args.slice(end + 1).map(({ value }) => value) }
}

const jq = reader(
  {
    letters: "rcnsSeMCjaR",
    names:
      "raw-output compact-output null-input slurp sort-keys exit-status tab color-output monochrome-output join-output ascii-output raw-input",
  },
  ({ operands: [filter, ...named] }) =>
    filter === undefined || filter.glob !== -1 || /\b(?:include|import|debug|input_filename)\b/.test(filter.value)
      ? is("the filter of jq may read other files")
      : { reads: named },
)

/** Recipes are those of the folder's own file; a variable or another file could be anything. */
const make = reader(
  { letters: "BiknqsS", attached: "jl", names: "silent quiet dry-run keep-going always-make" },
  ({ operands }) =>
    operands.every(({ value, glob }) => glob === -1 && /^[\w./-]+$/.test(value))
      ? { packages: [here] }
      : is("a variable is given to make"),
)

const npmRunning = new Set("exec x dlx config c set explore edit init create node".split(" "))

const copy = reader({ letters: "afinprRuvPdx" }, ({ operands, given }) => {
  const placed = placing(operands)
  if ("because" in placed) return placed
  const sources = operands.slice(0, -1)
  if (sources.some(({ value }) => value.endsWith("."))) return is("it copies all that is in a folder into another")
  const isDeep = ["a", "r", "R"].some((letter) => given.has(letter))
  return { ...(isDeep ? { walks: sources, hidden: true } : { reads: sources }), writes: placed }
})

const moved = reader({ letters: "finuv" }, ({ operands }) => {
  const placed = placing(operands)
  return "because" in placed ? placed : { writes: [...operands, ...placed] }
})

/** Where things go: to the last operand or, if that is a folder, to their names in it. */
function placing(operands: readonly Word[]): Word[] | Unread {
  const target = operands.at(-1)
  if (operands.length < 2 || target === undefined || operands.some(({ glob }) => glob !== -1))
    return is("it is not clear what it puts where")
  const inside = operands.slice(0, -1).map(({ value }) => `${target.value}/${posix.basename(value)}`)
  return [target, ...inside.map((value) => ({ value, glob: -1 }))]
}

const list = reader(
  { ...any, valued: "ITw", valuedNames: "ignore hide block-size sort time" },
  ({ operands, given }) => {
    // Names may be cut short.
    const has = (letter: string, name: string) =>
      given.has(letter) || [...given].some((one) => one.length > 1 && name.startsWith(one))
    if (has("R", "recursive") && has("L", "dereference")) return is("'ls -RL' follows links to anywhere")
    return { reads: operands.filter(isFile) }
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
    // Of two folders, it compares what is in them.
    diff: walker({ letters: "abBcdEiNpqsTtuwyZ", valued: "UCIxW", names: "brief report-identical-files side-by-side unified context new-file ignore-case ignore-all-space ignore-space-change ignore-blank-lines text color minimal suppress-common-lines", valuedNames: "exclude width" }),
    column: files({ letters: "tx", valued: "sco" }),
    od: files({ letters: "abcdfiloxv", valued: "AjNt", attached: "w" }),
    hexdump: files({ letters: "bcCdovx", valued: "ns" }),
    strings: reader({ letters: "af", valued: "nt" }, ({ operands }) => (operands.some(({ value }) => value.startsWith("@")) ? is("'@' stands for words in a file") : { reads: operands.filter(isFile) })),
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
    uniq: reader({ letters: "cdDiuz", valued: "fsw", names: "count repeated unique ignore-case zero-terminated", valuedNames: "skip-fields skip-chars check-chars" }, ({ operands: [from, to] }) => (from !== undefined && from.glob !== -1 ? is("the second file would be written") : { reads: from === undefined ? [] : [from], writes: to === undefined ? [] : [to] })),
    grep, egrep: grep, fgrep: grep, rg: ripgrep,
    sed: readSed, awk: readAwk, gawk: readAwk, mawk: readAwk, tar, printf, man,
    find: readFind, test: readTest, "[": readTest,
    git: readGit,
    npm: npmRun, pnpm: npmRun, yarn: npmRun,
    tee: reader({ letters: "a", names: "append" }, ({ operands }) => ({ writes: operands })),
    touch: made({ letters: "acm", names: "no-create" }),
    mkdir: made({ letters: "pv", names: "parents verbose" }),
    rmdir: made({ letters: "pv", names: "parents verbose" }),
    rm: made({ letters: "dfirRvI", names: "force recursive verbose dir interactive" }),
    cp: copy, mv: moved,
    echo: texts(any), pwd: texts(any), true: texts(any), false: texts(any), ":": texts(any),
    basename: texts({ ...any, valued: "s" }), dirname: texts(any),
    which: texts({ letters: "a" }), type: texts({ letters: "aptPf" }),
    whoami: texts({}), id: texts({ letters: "gGnruz" }), uname: texts({ letters: "asnrvmpio" }),
    seq: texts({ letters: "w", valued: "fs", counts: true }), sleep: texts({}), nproc: texts({ names: "all", valuedNames: "ignore" }),
    date: reader({ letters: "uIR", valued: "dr", names: "utc universal rfc-email iso-8601 rfc-3339", valuedNames: "date reference", reading: "r reference" }, ({ operands }) => (operands.every(({ value }) => value.startsWith("+")) ? {} : is("date may set the clock"))),
    exit: texts({}),
    jq, make, command: reader({ letters: "vV" }, ({ given }) => (given.size === 0 ? is("'command' runs what it is given") : {})),
  } satisfies Record<string, Program>),
) // prettier-ignore
