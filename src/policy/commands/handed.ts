import type { Disk } from "./disk.ts"
import type { Segment, Unread, Word } from "./line.ts"
import { programOf, type Names, type Use } from "./programs.ts"

/** A command that another one runs with names it has found, and those names. */
export interface Handed {
  readonly words: readonly Word[]
  readonly names: Names
  /** It runs also when there are no names. */
  readonly always: boolean
}

/** Names that no program takes for anything but a file, and `xargs` for one word. */
const plainName = /^[\w./][\w./:@%+,-]*$/
const mostNames = 2000

/**
 * What a command uses that is handed names: its own words and the names, as long as each of them is a file to read for it,
 * in whatever number they come.
 */
export function useOfHanded({ words, names, always }: Handed, folder: string, disk: Disk): Use | Unread {
  const [program, ...args] = words
  const table = program === undefined || program.glob !== -1 ? undefined : programOf(program.value)
  if (table === undefined) return { because: `it is not known what '${program?.value ?? ""}' does with names` }
  if (words.some(({ varies }) => varies === true)) return { because: "the value of a variable is not known" }
  const two: readonly Word[] = [plain("./a"), plain("./b")]
  const use = table([...args, ...two])
  if ("because" in use) return use
  const isRead = two.every((word) => use.reads?.includes(word)) && !use.walks?.some((word) => two.includes(word))
  const isWalked = two.every((word) => use.walks?.includes(word)) && !use.reads?.some((word) => two.includes(word))
  const isMore = [use.writes, use.tops, use.runs, use.guesses].some((list) => list !== undefined && list.length > 0)
  if (isRead === isWalked || isMore || use.repository === true || use.within !== undefined)
    return { because: `'${program!.value}' does more with names than read them` }
  if (always) {
    const none = table(args)
    if ("because" in none) return none
    if ((none.walks ?? []).length > 0) return { because: `without names '${program!.value}' would read all there is` }
  }
  const found = names(folder, disk)
  if (found === undefined || found.length > mostNames) return { because: "there are too many names to look at" }
  const odd = found.find((name) => !plainName.test(name))
  if (odd !== undefined) return { because: `the name '${odd}' could be taken for more than a file` }
  const list = found.map(plain)
  const others = (all: readonly Word[] = []) => all.filter((word) => !two.includes(word))
  return {
    ...use,
    reads: [...others(use.reads), ...(isRead ? list : [])],
    walks: [...others(use.walks), ...(isWalked ? list : [])],
  }
}

function plain(value: string): Word {
  return { value, glob: -1 }
}

interface XargsCommand {
  readonly words: readonly Word[]
  /** What ends each name it is given. */
  readonly end: "\n" | "\0"
  readonly always: boolean
}

/** The command that `xargs` runs, where it is written plainly. */
export function readXargs(args: readonly Word[]): XargsCommand | Unread {
  let end: "\n" | "\0" = "\n"
  let always = true
  let place: string | undefined
  let counts = false
  let at = 0
  for (; args[at]?.value.startsWith("-") === true; at++) {
    const { value } = args[at]!
    const next = args[at + 1]?.value ?? ""
    if (value === "-0" || value === "--null") end = "\0"
    else if (value === "-r" || value === "--no-run-if-empty") always = false
    else if (/^-P$/.test(value) && /^\d+$/.test(next)) at++
    else if (/^-[nL]$/.test(value) && /^\d+$/.test(next)) [at, counts] = [at + 1, true]
    else if (/^-[nL]\d+$/.test(value)) counts = true
    else if (value === "-I" && /^(?:\{\}|%)$/.test(next)) place = args[++at]!.value
    else if (/^-I(?:\{\}|%)$/.test(value)) place = value.slice(2)
    else if (!/^(?:-t|-P\d+)$/.test(value))
      return { because: `the option '${value}' of xargs is not known to be harmless` }
  }
  const words = args.slice(at)
  if (words.length === 0) return { because: "xargs is given no command" }
  if (place === undefined) return { words, end, always }
  if (counts) return { because: "xargs is told two ways to hand names on" }
  const isLast = words.at(-1)!.value === place && !words.slice(0, -1).some(({ value }) => value.includes(place))
  return isLast ? { words: words.slice(0, -1), end, always } : { because: `'${place}' of xargs is not its last word` }
}

/** Whether a part of a pipeline hands on some of the lines it is given, and each of them whole. */
export function isSieve({ words: [program, ...args] }: Segment): boolean {
  const values = args.map(({ value }) => value).join(" ")
  if (args.some(({ glob, varies }) => glob !== -1 || varies === true)) return false
  if (program?.value === "head" || program?.value === "tail") return /^(?:-\d+|-n ?\d+|)$/.test(values)
  if (program?.value === "sort") return /^(?:-[bdfgnrRuV]+ ?)*$/.test(values)
  if (program?.value === "uniq") return args.length === 0
  if (program?.value !== "grep") return false
  const [last, before, ...others] = args.toReversed()
  const options = before === undefined || before.value === "-e" ? others : [before, ...others]
  // The letter `e` takes what is behind it for the pattern, and what is left would be a file.
  return last !== undefined && !last.value.startsWith("-") && options.every(({ value }) => /^-[EFGPivwx]+$/.test(value))
}
