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
import { dropTrailingSeparators, type Join, type GroupToken, type ShellToken } from "./shell-line.ts"
import type { ScanResult } from "./scan-result.ts"

type Unbash = typeof import("unbash")

/** Reads a script with unbash. Undefined when it has anything but commands of plain words. */
export function readWithUnbash({ parse }: Unbash, script: string): ShellToken[] | undefined {
  const parsed = parse(script)
  if (parsed.errors !== undefined && parsed.errors.length > 0) return undefined
  const tokens: ShellToken[] = []
  if (!addList(parsed.commands, tokens)) return undefined
  return dropTrailingSeparators(tokens.sort((a, b) => a.at - b.at))
}

function addList(statements: readonly Statement[], tokens: ShellToken[]): boolean {
  return statements.every((statement, at) => {
    if (at > 0) tokens.push({ kind: "join", text: ";", at: statement.pos - 0.75 })
    return addStatement(statement, tokens)
  })
}

function addStatement({ command, background }: Statement, tokens: ShellToken[]): boolean {
  return background !== true && addNode(command, tokens)
}

function addNode(node: SyntaxNode, tokens: ShellToken[]): boolean {
  if (node.type === "AndOr" || node.type === "Pipeline") {
    for (const prefix of node.type === "Pipeline" ? node.prefixes : []) {
      if (prefix.type === "Negation") tokens.push({ kind: "join", text: "!", at: prefix.pos })
      else if (prefix.posix !== undefined || prefix.endOfOptions !== undefined) return false
      else tokens.push({ kind: "word", text: "time", at: prefix.pos })
    }
    const { commands, operators } = node
    operators.forEach((text, at) => tokens.push({ kind: "join", text: text as Join, at: commands[at + 1]!.pos - 0.5 }))
    return commands.every((command) => addNode(command, tokens))
  }
  if (node.type !== "Command") return addCompound(node, tokens)
  const { name, prefix, suffix } = node
  return [...prefix, ...(name === undefined ? [] : [name]), ...suffix].every((part) => addPart(part, tokens))
}

function addCompound(node: SyntaxNode, tokens: ShellToken[]): boolean {
  const group = (text: GroupToken, at: number) => tokens.push({ kind: "group", text, at })
  const list = (text: GroupToken, { commands, pos }: CompoundList) =>
    group(text, pos - 0.6) > 0 && addList(commands, tokens)
  switch (node.type) {
    case "Redirected":
      return addNode(node.command, tokens) && node.redirects.every((redirect) => addRedirection(redirect, tokens))
    case "Subshell":
      return group(")", node.end - 0.5) > 0 && list("(", node.body)
    case "BraceGroup":
      return group("}", node.end - 0.5) > 0 && list("{", node.body)
    case "If":
      group("fi", node.end - 0.5)
      return (
        list("if", node.clause) &&
        list("then", node.then) &&
        node.elif.every(({ clause, then }) => list("elif", clause) && list("then", then)) &&
        (node.else === undefined || list("else", node.else))
      )
    default:
      return false
  }
}

function addPart(part: SyntaxNode, tokens: ShellToken[]): boolean {
  if (part.type === "Word") {
    return isPlain(part) && tokens.push({ kind: "word", text: part.value, at: part.pos }) > 0
  }
  if (part.type === "Assignment") {
    const { name, value, append, index, pos } = part
    if (append === true || index !== undefined || value.type !== "Word" || !isPlain(value)) return false
    tokens.push({ kind: "assignment", text: `${name}=${value.value}`, at: pos })
    return true
  }
  return addRedirection(part as Redirection, tokens)
}

function addRedirection(redirection: Redirection, tokens: ShellToken[]): boolean {
  const { descriptor, operator, pos } = redirection
  if (descriptor !== undefined && descriptor.type !== "FileDescriptor") return false
  const start = `${descriptor?.value ?? ""}${operator}`
  if (redirection.type === "HereDoc") {
    const { body, closing } = redirection
    if (closing === undefined || (body.parts ?? []).some(({ type }) => type !== "Literal")) return false
    tokens.push({ kind: "redirect", text: `${start}${body.text}`, at: pos })
    return true
  }
  const { target } = redirection
  if (target === undefined || !isPlain(target)) return false
  tokens.push({ kind: "redirect", text: `${start}${target.value}`, at: pos })
  return true
}

function isPlain({ parts }: Word): boolean {
  return (parts ?? []).every(isPlainPart)
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal")
  return part.type === "Literal" || part.type === "SingleQuoted" || (part.type === "Glob" && part.kind !== "bracket")
}

/** Adds every command and redirect that unbash finds anywhere in a script. */
export function scanWithUnbash(unbash: Unbash, script: string, result: ScanResult): void {
  const visit = (node: SyntaxNode) => {
    if (node.type === "Command" && node.name !== undefined) {
      const words = [node.name, ...node.args].map((word) => (word.type === "Word" ? looseValue(word) : word.text))
      result.commands.push({ words, input: inputOf(node.redirects) })
    } else if (node.type === "Redirect" && node.target !== undefined)
      result.redirects.push({ operator: node.operator, target: looseValue(node.target) })
    unbash.forEachChild(node, visit)
  }
  try {
    visit(unbash.parse(script) as Script)
  } catch {
    // Other scans run too; the commands found so far count.
  }
}

function inputOf(redirects: readonly Redirection[]): string | undefined {
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") return redirect.body.text
    if (redirect.type === "HereString" && redirect.target !== undefined) return looseValue(redirect.target)
  }
  return undefined
}

/** A word without quotes. Expansions stay as they are written, except those that are certainly empty. */
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
