import type { DoubleQuotedChild, Redirection, Script, Statement, SyntaxNode, Word, WordPart } from "unbash"
import type { Join, Piece } from "./line.ts"
import type { Seen } from "./seen.ts"

type Unbash = typeof import("unbash")

/** Reads a script with unbash. Undefined when it has anything but simple commands of plain words. */
export function readWithUnbash({ parse }: Unbash, script: string): Piece[] | undefined {
  const parsed = parse(script)
  if (parsed.errors !== undefined && parsed.errors.length > 0) return undefined
  const pieces: Piece[] = []
  const isPlain = parsed.commands.every((statement, at) => {
    if (at > 0) pieces.push({ kind: "join", text: ";", at: statement.pos - 1 })
    return addStatement(statement, pieces)
  })
  return isPlain ? pieces.sort((one, other) => one.at - other.at) : undefined
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
  if (node.type !== "Command") return false
  const { name, prefix, suffix } = node
  return [...prefix, ...(name === undefined ? [] : [name]), ...suffix].every((part) => addPart(part, pieces))
}

function addPart(part: SyntaxNode, pieces: Piece[]): boolean {
  if (part.type === "Word") {
    if (!isPlain(part)) return false
    pieces.push({ kind: "word", text: part.value, at: part.pos })
    return true
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
