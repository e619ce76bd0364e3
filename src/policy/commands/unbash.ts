import type {
  CompoundList,
  DoubleQuotedChild,
  Redirection,
  Script,
  Statement,
  SyntaxNode,
  Word,
  WordPart,
} from "unbash"
import { withoutEnds, type Join, type Mark, type Piece } from "./line.ts"
import type { Seen } from "./seen.ts"
import { variableAt, variableMark } from "./variables.ts"

type Unbash = typeof import("unbash")

/** Reads a script with unbash. Undefined when it has anything but commands of plain words. */
export function readWithUnbash({ parse }: Unbash, script: string): Piece[] | undefined {
  const parsed = parse(script)
  if (parsed.errors !== undefined && parsed.errors.length > 0) return undefined
  const pieces: Piece[] = []
  if (!addList(parsed.commands, pieces)) return undefined
  return withoutEnds(pieces.sort((one, other) => one.at - other.at))
}

function addList(statements: readonly Statement[], pieces: Piece[]): boolean {
  return statements.every((statement, at) => {
    if (at > 0) pieces.push({ kind: "join", text: ";", at: statement.pos - 0.75 })
    return addStatement(statement, pieces)
  })
}

function addStatement({ command, background }: Statement, pieces: Piece[]): boolean {
  return background !== true && addNode(command, pieces)
}

function addNode(node: SyntaxNode, pieces: Piece[]): boolean {
  if (node.type === "AndOr" || node.type === "Pipeline") {
    for (const prefix of node.type === "Pipeline" ? node.prefixes : []) {
      if (prefix.type === "Negation") pieces.push({ kind: "join", text: "!", at: prefix.pos })
      else if (prefix.posix !== undefined || prefix.endOfOptions !== undefined) return false
      else pieces.push({ kind: "word", text: "time", at: prefix.pos })
    }
    const { commands, operators } = node
    operators.forEach((text, at) => pieces.push({ kind: "join", text: text as Join, at: commands[at + 1]!.pos - 0.5 }))
    return commands.every((command) => addNode(command, pieces))
  }
  if (node.type !== "Command") return addCompound(node, pieces)
  const { name, prefix, suffix } = node
  return [...prefix, ...(name === undefined ? [] : [name]), ...suffix].every((part) => addPart(part, pieces))
}

function addCompound(node: SyntaxNode, pieces: Piece[]): boolean {
  const mark = (text: Mark, at: number) => pieces.push({ kind: "mark", text, at })
  const list = (text: Mark, { commands, pos }: CompoundList) => mark(text, pos - 0.6) > 0 && addList(commands, pieces)
  switch (node.type) {
    case "Redirected":
      return addNode(node.command, pieces) && node.redirects.every((redirect) => addRedirection(redirect, pieces))
    case "Subshell":
      return mark(")", node.end - 0.5) > 0 && list("(", node.body)
    case "BraceGroup":
      return mark("}", node.end - 0.5) > 0 && list("{", node.body)
    case "If":
      mark("fi", node.end - 0.5)
      return (
        list("if", node.clause) &&
        list("then", node.then) &&
        node.elif.every(({ clause, then }) => list("elif", clause) && list("then", then)) &&
        (node.else === undefined || list("else", node.else))
      )
    case "For":
      pieces.push({ kind: "mark", text: `for ${node.name.text}`, at: node.pos })
      mark("done", node.end - 0.5)
      return (
        node.wordlist !== undefined && node.wordlist.every((word) => addPart(word, pieces)) && list("do", node.body)
      )
    default:
      return false
  }
}

function addPart(part: SyntaxNode, pieces: Piece[]): boolean {
  if (part.type === "Word") {
    const text = valueOf(part)
    if (text !== undefined) pieces.push({ kind: "word", text, at: part.pos })
    return text !== undefined
  }
  if (part.type === "Assignment") {
    const { name, value, append, index, pos } = part
    if (append === true || index !== undefined || value.type !== "Word" || !isPlain(value)) return false
    pieces.push({ kind: "assignment", text: `${name}=${value.value}`, at: pos })
    return true
  }
  return addRedirection(part as Redirection, pieces)
}

function addRedirection(redirection: Redirection, pieces: Piece[]): boolean {
  const { descriptor, operator, pos } = redirection
  if (descriptor !== undefined && descriptor.type !== "FileDescriptor") return false
  const start = `${descriptor?.value ?? ""}${operator}`
  if (redirection.type === "HereDoc") {
    const { body, closing } = redirection
    if (closing === undefined || (body.parts ?? []).some(({ type }) => type !== "Literal")) return false
    pieces.push({ kind: "redirect", text: `${start}${body.text}`, at: pos })
    return true
  }
  const { target } = redirection
  if (target === undefined || !isPlain(target)) return false
  pieces.push({ kind: "redirect", text: `${start}${target.value}`, at: pos })
  return true
}

/** The value of a word, with marks where those of variables stand; undefined where anything else is expanded. */
function valueOf(word: Word): string | undefined {
  if (isPlain(word)) return word.value
  const values = word.parts!.map((part) => {
    if (part.type !== "DoubleQuoted") return partValue(part)
    const inner = part.parts.map(partValue)
    return inner.includes(undefined) ? undefined : inner.join("")
  })
  return values.includes(undefined) ? undefined : values.join("")
}

function partValue(part: WordPart): string | undefined {
  if (isPlainPart(part) && "value" in part) return part.value
  if (part.type !== "SimpleExpansion" && part.type !== "ParameterExpansion") return undefined
  const variable = variableAt(part.text, 0)
  return variable?.length === part.text.length ? variableMark(variable.name) : undefined
}

function isPlain({ parts }: Word): boolean {
  return (parts ?? []).every(isPlainPart)
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal")
  return part.type === "Literal" || part.type === "SingleQuoted" || (part.type === "Glob" && part.kind !== "bracket")
}

/** Adds every command and redirection that unbash can see anywhere in a script. */
export function scanUnbash(unbash: Unbash, script: string, seen: Seen): void {
  const visit = (node: SyntaxNode) => {
    if (node.type === "Command" && node.name !== undefined) {
      const words = [node.name, ...node.args].map((word) => (word.type === "Word" ? looseValue(word) : word.text))
      seen.commands.push({ words, input: inputOf(node.redirects) })
    } else if (node.type === "Redirect" && node.target !== undefined)
      seen.redirects.push({ operator: node.operator, target: looseValue(node.target) })
    unbash.forEachChild(node, visit)
  }
  try {
    visit(unbash.parse(script) as Script)
  } catch {
    // It is only one of several ways to look; what was seen so far counts.
  }
}

function inputOf(redirects: readonly Redirection[]): string | undefined {
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") return redirect.body.text
    if (redirect.type === "HereString" && redirect.target !== undefined) return looseValue(redirect.target)
  }
  return undefined
}

/** A word without quotes; what is expanded in it stays as it is written, except what is certainly empty. */
function looseValue({ parts, value, text }: Word): string {
  if (parts === undefined) return value.includes("\\\n") ? value.replaceAll("\\\n", "") : value
  return parts.map(loosePart).join("") || text
}

function loosePart(part: WordPart | DoubleQuotedChild): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map(loosePart).join("")
    default:
      return /^\$(?:[@*1-9]|\{[@*1-9]\})$/.test(part.text) ? "" : part.text
  }
}
