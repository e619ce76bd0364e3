/** A piece of an awk script. */
export interface AwkToken {
  readonly kind: "name" | "number" | "string" | "regex" | "operator" | "newline"
  readonly text: string
}

/**
 * The pieces of an awk script, or undefined where gawk, mawk and the others could cut it differently: then what is a string
 * for one is a command for another.
 */
export function awkTokens(script: string): AwkToken[] | undefined {
  // Behind a backslash gawk leaves a return out, and in some charsets a backslash or a bracket is half of another letter.
  if (/[^\t\n\x20-\x7e]/u.test(script)) return undefined
  const tokens: AwkToken[] = []
  let at = 0
  while (at < script.length) {
    at += matchAt(/(?:[ \t]|\\\n)*/y, script, at).length
    if (at >= script.length) break
    const cut = script[at] === "/" ? slash(script, at, tokens) : tokenAt(script, at)
    if (cut === undefined) return undefined
    at += cut.text.length
    if (cut.kind !== "comment") tokens.push({ kind: cut.kind, text: cut.text })
  }
  return tokens
}

type Cut = { readonly kind: AwkToken["kind"] | "comment"; readonly text: string } | undefined

const operators = /\*\*=|\|&|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|%=|\^=|==|<=|>=|!=|!~|>>|[{}()[\];,+\-*%^!<>|?:~$=]/y

function tokenAt(script: string, at: number): Cut {
  const character = script[at]!
  if (character === "\n") return { kind: "newline", text: "\n" }
  if (character === "#") {
    const text = matchAt(/#[^\n]*/y, script, at)
    // Whether it goes on in the next line is not told everywhere in the same way.
    return text.endsWith("\\") ? undefined : { kind: "comment", text }
  }
  if (character === '"') return some("string", matchAt(/"(?:[^"\\\n]|\\[^\n])*"/y, script, at))
  if (/[A-Za-z_]/.test(character)) return some("name", matchAt(/\w+/y, script, at))
  // `5x` is two values for some, and `0x5` one for others.
  if (/[0-9.]/.test(character))
    return some("number", matchAt(/(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y, script, at))
  return some("operator", matchAt(operators, script, at))
}

function some(kind: AwkToken["kind"], text: string): Cut {
  return text === "" ? undefined : { kind, text }
}

/** A regular expression where no value stands before it, a division where one does, and nothing where that is not plain. */
function slash(script: string, at: number, tokens: readonly AwkToken[]): Cut {
  const last = tokens.at(-1)
  if (beginsExpression(last)) {
    const text = matchAt(/\/(?:[^\\/\n]|\\[^\n])+\//y, script, at)
    return text === "" || !hasPlainBrackets(text.slice(1, -1)) ? undefined : { kind: "regex", text }
  }
  const isValue =
    last!.kind === "number" ||
    last!.kind === "string" ||
    last!.text === "]" ||
    (last!.text === ")" && !closesHeader(tokens)) ||
    (last!.kind === "name" && !words.has(last!.text) && !awkFunctions.has(last!.text))
  return isValue ? { kind: "operator", text: script[at + 1] === "=" ? "/=" : "/" } : undefined
}

function beginsExpression(last: AwkToken | undefined): boolean {
  if (last === undefined || last.kind === "newline") return true
  // Not `case`: it is a variable for all but gawk, and what follows it then a division.
  if (last.kind === "name") return /^(?:print|printf|return|else|do)$/.test(last.text)
  return last.kind === "operator" && /^(?:[{}(;,!~?:<]|!~|&&|\|\||=|==|!=)$/.test(last.text)
}

/** After `if (…)` a statement begins, for those that know it. */
function closesHeader(tokens: readonly AwkToken[]): boolean {
  let depth = 0
  for (let at = tokens.length - 1; at >= 0; at--) {
    const { kind, text } = tokens[at]!
    if (kind !== "operator") continue
    if (text === ")") depth++
    else if (text === "(" && --depth === 0) {
      const before = tokens[at - 1]
      return before?.kind === "name" && /^(?:if|while|for|switch)$/.test(before.text)
    }
  }
  return true
}

/** Some look for the end of an expression inside of brackets too, and each has its own mind about where those end. */
function hasPlainBrackets(expression: string): boolean {
  const bracket = /\\.|\[(?!\^?\])\^?(?:\[:[a-z]+:\]|\\[^\][\\]|[^\][\\])+\]/g
  return !/[[\]]/.test(expression.replace(bracket, ""))
}

/** What is not the name of a variable. */
const words = new Set(
  "BEGIN END BEGINFILE ENDFILE function func if else while for do break continue next nextfile exit return delete in getline print printf switch case default".split(
    " ",
  ),
)

/** Functions that neither run a program nor open a file. */
export const awkFunctions: ReadonlySet<string> = new Set(
  "length index substr split match sub gsub gensub sprintf tolower toupper sin cos atan2 exp log sqrt int rand srand and or xor compl lshift rshift strtonum systime strftime mktime asort asorti patsplit isarray typeof close fflush".split(
    " ",
  ),
)

/** Whether a name is one of awk's own words. */
export function isAwkWord(name: string): boolean {
  return words.has(name)
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ""
}
