import { runsCodeBecause } from "./code-runners.ts"
import { programOf } from "./programs.ts"
import { baseName, isWrapper, runsItsArguments, unwrapPlain } from "./wrappers.ts"

/**
 * The words by which a rule may name a command and all others like it: its program and subcommand, or the program alone
 * where it only reads the files it is given. Undefined where another line could do anything: for shells, interpreters,
 * wrappers, package runners, programs that write files, and options where a subcommand could be.
 */
export function commandStem(line: string): string | undefined {
  const words = line.split(" ")
  const [program = "", second = ""] = words
  const runsOthers = runsItsArguments(program) || isWrapper(baseName(program)) || unwrapPlain(words) > 0
  if (program.includes("/") || runsOthers || runsCodeBecause(words) !== undefined) return undefined
  if (packageRunners.has(program) || runningSubcommands.has(second)) return undefined
  if (readers.has(program)) return program
  if (program !== "git" && programOf(program) !== undefined) return undefined
  return /^[A-Za-z][\w:-]*$/.test(second) ? `${program} ${second}` : undefined
}

const readers = new Set("ls cat head tail wc grep egrep fgrep rg stat du df diff cmp pwd tree".split(" "))

/** They run scripts of a project, or install packages that bring their own. */
const packageRunners = new Set("npm pnpm yarn bun pip pip3 gem composer brew".split(" "))
const runningSubcommands = new Set("exec x dlx run install add create".split(" "))
