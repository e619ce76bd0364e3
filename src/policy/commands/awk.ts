import { awkFunctions, awkTokens, isAwkWord, type AwkToken } from "./awk-tokens.ts"
import type { Unread, Word } from "./line.ts"
import type { Use } from "./programs.ts"

/** What awk reads. Its options end where its script begins: whatever comes behind is a file or sets a variable. */
export function readAwk(args: readonly Word[]): Use | Unread {
  let at = 0
  for (; at < args.length && /^-./.test(args[at]!.value); at++) {
    const { value, glob } = args[at]!
    if (glob !== -1) return { because: `the pattern '${value}' could stand for an option` }
    if (value === "--version" && args.length === 1) return {}
    if (value === "--") {
      at++
      break
    }
    const [, letter, inline] = /^-([Fv])([^]*)$/.exec(value) ?? []
    const given = inline === "" ? args[++at] : inline === undefined ? undefined : { value: inline, glob: -1 }
    if (letter === undefined || given === undefined || given.glob !== -1)
      return { because: `the option '${value}' of awk is not known to be harmless` }
    if (letter === "v" && !isHarmlessSetting(given.value))
      return { because: `'${given.value}' may change which files awk reads` }
  }
  const [script, ...rest] = args.slice(at)
  if (script === undefined) return { because: "awk is given no script" }
  if (script.glob !== -1 || !isPlainAwk(script.value))
    return { because: `the awk script '${script.value}' may run something or open files` }
  return readOperands(rest)
}

function readOperands(operands: readonly Word[]): Use | Unread {
  const reads: Word[] = []
  for (const operand of operands) {
    const { value, glob } = operand
    if (/^-./.test(value) || couldBeSetting(operand) || isNetwork(value))
      return { because: `'${value}' could be more than a file for awk` }
    if (/^[A-Za-z_]\w*=/.test(value)) {
      // Of `x==y` some take the first half for a variable, and some the whole for a file.
      if (glob !== -1 || /^\w+==/.test(value) || !isHarmlessSetting(value))
        return { because: `'${value}' may change which files awk reads` }
    } else if (value !== "-") reads.push(operand)
  }
  return { reads }
}

/** Whether a name on the disk that fits the pattern could be an option for some, or set one of the special variables for all. */
function couldBeSetting({ value, glob }: Word): boolean {
  return glob !== -1 && [...special].some((name) => `${name}=`.startsWith(value.slice(0, glob)))
}

/** What gawk connects to, though it stands where a file does. */
function isNetwork(value: string): boolean {
  return /^\/inet[46]?\//.test(value)
}

function isHarmlessSetting(text: string): boolean {
  const name = /^([A-Za-z_]\w*)=/.exec(text)?.[1]
  return name !== undefined && !special.has(name)
}

/** Variables through which a script reaches other files, its environment or itself. */
const special = new Set("ARGV ARGC ARGIND ENVIRON PROCINFO SYMTAB FUNCTAB".split(" "))

/** Whether an awk script only prints: it runs nothing, and reads and writes no file that is not among its words. */
export function isPlainAwk(script: string): boolean {
  const tokens = awkTokens(script)
  if (tokens === undefined) return false
  const own = new Set(tokens.filter((_, at) => isDefinition(tokens, at)).map(({ text }) => text))
  let printing = false
  let depth = 0
  for (const [at, token] of tokens.entries()) {
    const { kind, text } = token
    if (kind === "name") {
      if (!isPlainName(tokens, at, own)) return false
      if (text === "print" || text === "printf") [printing, depth] = [true, 0]
    }
    if (kind !== "operator") continue
    if (text === "|" || text === "|&") return false
    // A line's end does not end a `print` everywhere, so it counts as if it never did.
    if (text === ";" || text === "{" || text === "}") printing = false
    else if (text === "(" || text === "[") depth++
    else if (text === ")" || text === "]") depth--
    else if (text === ":" && tokens[at + 1]?.text === ":") return false
    else if (text === ">>" || (/^>=?$/.test(text) && printing && depth <= 0)) {
      if (!printing || depth > 0 || !goesToTerminal(tokens, at)) return false
    }
  }
  return true
}

function isDefinition(tokens: readonly AwkToken[], at: number): boolean {
  const before = tokens[at - 1]
  return tokens[at]!.kind === "name" && before?.kind === "name" && /^func(?:tion)?$/.test(before.text)
}

function isPlainName(tokens: readonly AwkToken[], at: number, own: ReadonlySet<string>): boolean {
  const { text } = tokens[at]!
  if (text === "getline") return isPlainGetline(tokens, at)
  if (text === "PROCINFO") return ["[", '"sorted_in"', "]"].every((next, step) => tokens[at + 1 + step]?.text === next)
  if (text === "ARGIND") return isOnlyCompared(tokens, at)
  // gawk looks the text up in a catalogue, which is a file.
  if (text === "_" && tokens[at + 1]?.kind === "string") return false
  if (special.has(text) || text === "system") return false
  if (isAwkWord(text) || awkFunctions.has(text) || own.has(text)) return true
  // A function that is not known here, with a space before its words too.
  return tokens[at + 1]?.text !== "("
}

/** Which of its files awk is at may be asked; where it is set, busybox goes on with another one. */
function isOnlyCompared(tokens: readonly AwkToken[], at: number): boolean {
  return /^[=!<>]=$|^[<>]$/.test(tokens[at + 1]?.text ?? "") && !/^(?:\+\+|--)$/.test(tokens[at - 1]?.text ?? "")
}

/** `getline` and `getline name` read on in the files that are among awk's words. */
function isPlainGetline(tokens: readonly AwkToken[], at: number): boolean {
  const name = tokens[at + 1]
  const isNamed = name?.kind === "name" && !isAwkWord(name.text) && !special.has(name.text)
  return isEnd(tokens[at + (isNamed ? 2 : 1)], true)
}

/** `> "/dev/stderr"`, and nothing behind it. */
function goesToTerminal(tokens: readonly AwkToken[], at: number): boolean {
  const target = tokens[at + 1]
  return /^"\/dev\/std(?:err|out)"$/.test(target?.text ?? "") && isEnd(tokens[at + 2], false)
}

function isEnd(token: AwkToken | undefined, orParenthesis: boolean): boolean {
  if (token === undefined || token.kind === "newline") return true
  return (
    token.kind === "operator" && (token.text === ";" || token.text === "}" || (orParenthesis && token.text === ")"))
  )
}
