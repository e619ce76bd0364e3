import type { Node, Parser, Tree } from "web-tree-sitter"
import { dropTrailingSeparators, type Join, type ShellToken } from "./shell-line.ts"
import { unquoted } from "./quotes.ts"
import type { ScanResult } from "./scan-result.ts"

/** Reads a script with tree-sitter-bash. Undefined when it has anything but commands of plain words. */
export function readWithTreeSitter(parser: Parser, script: string): ShellToken[] | undefined {
  const tree = parse(parser, script)
  if (tree === undefined) return undefined
  try {
    if (tree.rootNode.hasError) return undefined
    const tokens: ShellToken[] = []
    if (!addChildren(tree.rootNode, tokens)) return undefined
    return dropTrailingSeparators(withSeparators(tokens.sort((a, b) => a.at - b.at)))
  } finally {
    tree.delete()
  }
}

/** The parser is stopped after this time; the other parsers continue. */
const timeoutMs = 100

function parse(parser: Parser, script: string): Tree | undefined {
  const until = performance.now() + timeoutMs
  try {
    return parser.parse(script, null, { progressCallback: () => performance.now() > until }) ?? undefined
  } catch {
    return undefined
  } finally {
    // Without a reset the parser would continue a stopped script with the next one.
    parser.reset()
  }
}

const joins = new Set(["&&", "||", "|", "|&", ";"])
const groups = new Set(["program", "list", "pipeline", "redirected_statement", "negated_command", "command"])
const compounds = new Set(["if_statement", "elif_clause", "else_clause", "compound_statement", "subshell"])
const groupTokens = new Set(["if", "then", "elif", "else", "fi", "{", "}", "(", ")"])
const commandStarts = new Set(["command", "test_command", "if_statement", "compound_statement", "subshell"])
const words = new Set(["word", "number", "string", "raw_string", "concatenation"])
const tests = new Set(["test_command", "unary_expression", "binary_expression", "negation_expression"])
const wordParts = new Set(["word", "number", "string", "raw_string", "string_content", '"', "$", "{", "}"])
const redirects = new Set([">", ">>", ">|", "<", "<>", "&>", "&>>", ">&", "<&", "<<<"])

/** Marks where a command begins: the tree has no node for a line end between two commands. */
const commandStart = "\0"

function addChildren(node: Node, tokens: ShellToken[]): boolean {
  return node.children.every((child) => child !== null && addNode(child, tokens))
}

function addNode(node: Node, tokens: ShellToken[]): boolean {
  const { type, startIndex: at } = node
  if (type === "comment" || type === "\n") return true
  if (commandStarts.has(type)) tokens.push({ kind: "word", text: commandStart, at: at - 0.25 })
  if (groups.has(type) || compounds.has(type)) return addChildren(node, tokens)
  if (groupTokens.has(type) && compounds.has(node.parent?.type ?? ""))
    return tokens.push({ kind: "group", text: type, at }) > 0
  if (joins.has(type)) return tokens.push({ kind: "join", text: type as Join, at }) > 0
  if (type === "!" && node.parent?.type === "negated_command")
    return tokens.push({ kind: "join", text: "!", at: at - 0.5 }) > 0
  if (type === "command_name") return node.childCount === 1 && addNode(node.child(0)!, tokens)
  if (words.has(type)) return isPlainWord(node) && tokens.push({ kind: "word", text: unquoted(node.text), at }) > 0
  if (type === "variable_assignment") return addAssignment(node, tokens)
  if (type === "file_redirect" || type === "herestring_redirect") return addRedirect(node, tokens)
  if (type === "heredoc_redirect") return addHeredoc(node, tokens)
  return addTest(node, tokens)
}

/** `[ … ]` is an ordinary program, but the tree has special nodes for its words. */
function addTest(node: Node, tokens: ShellToken[]): boolean {
  if (node.type === "test_command" && node.child(0)?.type !== "[") return false
  if (tests.has(node.type)) return addChildren(node, tokens)
  if (node.parent === null || !tests.has(node.parent.type) || node.childCount > 0) return false
  return tokens.push({ kind: "word", text: unquoted(node.text), at: node.startIndex }) > 0
}

function isPlainWord(node: Node): boolean {
  return wordParts.has(node.type) || node.type === "concatenation"
    ? node.children.every((child) => child !== null && isPlainWord(child))
    : false
}

function addAssignment(node: Node, tokens: ShellToken[]): boolean {
  const [name, equals, value, ...rest] = node.children
  if (name?.type !== "variable_name" || equals?.type !== "=" || rest.length > 0) return false
  if (value !== undefined && (value === null || !isPlainWord(value))) return false
  return tokens.push({ kind: "assignment", text: unquoted(node.text), at: node.startIndex }) > 0
}

function addRedirect(node: Node, tokens: ShellToken[]): boolean {
  const children = node.children as Node[]
  const descriptor = children[0]?.type === "file_descriptor" ? children.shift()!.text : ""
  const [operator, target, ...rest] = children
  if (operator === undefined || target === undefined || !redirects.has(operator.type)) return false
  if (!words.has(target.type) || !isPlainWord(target)) return false
  tokens.push({ kind: "redirect", text: `${descriptor}${operator.type}${unquoted(target.text)}`, at: node.startIndex })
  // Words after the target belong to the command.
  return rest.every((word) => words.has(word.type) && addNode(word, tokens))
}

function addHeredoc(node: Node, tokens: ShellToken[]): boolean {
  const children = node.children as Node[]
  const descriptor = children[0]?.type === "file_descriptor" ? children.shift()!.text : ""
  if (children[0]?.type !== "<<") return false
  const body = children.find(({ type }) => type === "heredoc_body")
  if (body !== undefined && body.children.some((child) => child?.type !== "heredoc_content")) return false
  tokens.push({ kind: "redirect", text: `${descriptor}<<${body?.text ?? ""}`, at: node.startIndex })
  const known = new Set(["<<", "heredoc_start", "heredoc_body", "heredoc_end"])
  return children.every((child) => known.has(child.type) || addNode(child, tokens))
}

/** Inserts `;` between two commands that only a line end separates, and drops a trailing join. */
function withSeparators(tokens: readonly ShellToken[]): ShellToken[] {
  const result: ShellToken[] = []
  let isOpen = false
  for (const token of tokens) {
    if (token.kind === "word" && token.text === commandStart) {
      const last = result.at(-1)
      const isSeparated = last === undefined || (last.kind === "join" ? last.text !== "!" : isOpening(last))
      if (isOpen && !isSeparated && last.text !== "!") result.push({ kind: "join", text: ";", at: token.at })
      isOpen = true
    } else result.push(token)
  }
  if (result.at(-1)?.kind === "join") result.pop()
  return result
}

function isOpening({ kind, text }: ShellToken): boolean {
  return kind === "group" && /^(?:if|then|elif|else|[{(])$/.test(text)
}

/** Adds every command and redirect anywhere in the tree, even where the tree has errors. */
export function scanWithTreeSitter(parser: Parser, script: string, result: ScanResult): void {
  const tree = parse(parser, script)
  if (tree === undefined) return
  const until = performance.now() + timeoutMs
  const open: Node[] = [tree.rootNode]
  for (let node = open.pop(); node !== undefined && performance.now() < until; node = open.pop()) {
    if (node.type === "command") result.commands.push({ words: commandWords(node) })
    else if (node.type === "file_redirect") addTarget(node, result)
    for (const child of node.children) if (child !== null && child.childCount > 0) open.push(child)
  }
  tree.delete()
}

function commandWords(node: Node): string[] {
  const parts = node.children.filter((child) => child !== null && !notWords.has(child.type)) as Node[]
  return parts.map(({ text }) => unquoted(text))
}

const notWords = new Set(["variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "comment"])

function addTarget(node: Node, result: ScanResult): void {
  const at = node.children.findIndex((child) => child !== null && redirects.has(child.type))
  const target = node.children[at + 1]
  if (at !== -1 && target != null)
    result.redirects.push({ operator: node.children[at]!.type, target: unquoted(target.text) })
}
