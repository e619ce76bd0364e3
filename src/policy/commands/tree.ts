import type { Node, Parser, Tree } from "web-tree-sitter"
import { withoutEnds, type Join, type Piece } from "./line.ts"
import { unquoted } from "./quotes.ts"
import type { Seen } from "./seen.ts"
import { variableAt, variableMark } from "./variables.ts"

/** Reads a script with tree-sitter-bash. Undefined when it has anything but commands of plain words. */
export function readWithTree(parser: Parser, script: string): Piece[] | undefined {
  const tree = parse(parser, script)
  if (tree === undefined) return undefined
  try {
    if (tree.rootNode.hasError) return undefined
    const pieces: Piece[] = []
    if (!addChildren(tree.rootNode, pieces)) return undefined
    return withoutEnds(withEnds(pieces.sort((one, other) => one.at - other.at)))
  } finally {
    tree.delete()
  }
}

/** Milliseconds after which the tree is given up; the other readings go on. */
const patience = 100

function parse(parser: Parser, script: string): Tree | undefined {
  const until = performance.now() + patience
  try {
    return parser.parse(script, null, { progressCallback: () => performance.now() > until }) ?? undefined
  } catch {
    return undefined
  } finally {
    // What was given up would be gone on with at the next script.
    parser.reset()
  }
}

const joins = new Set(["&&", "||", "|", "|&", ";"])
const groups = new Set(["program", "list", "pipeline", "redirected_statement", "negated_command", "command"])
const compounds = new Set(["if_statement", "elif_clause", "else_clause", "do_group", "compound_statement", "subshell"])
const marks = new Set(["if", "then", "elif", "else", "fi", "do", "done", "{", "}", "(", ")"])
const begin = new Set(["command", "test_command", "if_statement", "for_statement", "compound_statement", "subshell"])
const words = new Set(["word", "number", "string", "raw_string", "concatenation", "simple_expansion", "expansion"])
const tests = new Set(["test_command", "unary_expression", "binary_expression", "negation_expression"])
const wordParts = new Set(["word", "number", "string", "raw_string", "string_content", '"', "$", "{", "}"])
const redirects = new Set([">", ">>", ">|", "<", "<>", "&>", "&>>", ">&", "<&", "<<<"])

/** A mark between two commands that only a line's end divides: the tree has no node for it. */
const begins = "\0"

function addChildren(node: Node, pieces: Piece[]): boolean {
  return node.children.every((child) => child !== null && addNode(child, pieces))
}

function addNode(node: Node, pieces: Piece[]): boolean {
  const { type, startIndex: at } = node
  if (type === "comment" || type === "\n") return true
  if (begin.has(type)) pieces.push({ kind: "word", text: begins, at: at - 0.25 })
  if (groups.has(type) || compounds.has(type)) return addChildren(node, pieces)
  if (type === "for_statement") return addLoop(node, pieces)
  if (marks.has(type) && compounds.has(node.parent?.type ?? ""))
    return pieces.push({ kind: "mark", text: type, at }) > 0
  if (joins.has(type)) return pieces.push({ kind: "join", text: type as Join, at }) > 0
  if (type === "!" && node.parent?.type === "negated_command")
    return pieces.push({ kind: "join", text: "!", at: at - 0.5 }) > 0
  if (type === "command_name") return node.childCount === 1 && addNode(node.child(0)!, pieces)
  if (words.has(type)) return isWord(node) && pieces.push({ kind: "word", text: valueOf(node), at }) > 0
  if (type === "variable_assignment") return addAssignment(node, pieces)
  if (type === "file_redirect" || type === "herestring_redirect") return addRedirect(node, pieces)
  if (type === "heredoc_redirect") return addHeredoc(node, pieces)
  return addTest(node, pieces)
}

/** `[ … ]` is a program like any other; the tree has its words in a shape of their own. */
function addTest(node: Node, pieces: Piece[]): boolean {
  if (node.type === "test_command" && node.child(0)?.type !== "[") return false
  if (tests.has(node.type)) return addChildren(node, pieces)
  if (node.parent === null || !tests.has(node.parent.type) || node.childCount > 0) return false
  return pieces.push({ kind: "word", text: unquoted(node.text), at: node.startIndex }) > 0
}

/** `for name in words; do … done` */
function addLoop(node: Node, pieces: Piece[]): boolean {
  const [first, name, within, ...rest] = node.children as Node[]
  if (first?.type !== "for" || name?.type !== "variable_name" || within?.type !== "in") return false
  pieces.push({ kind: "mark", text: `for ${name.text}`, at: node.startIndex })
  return rest.every((child) => child.type === ";" || child.type === "\n" || addNode(child, pieces))
}

/** A word in which variables may stand, and nothing else that is expanded. */
function isWord(node: Node): boolean {
  if (isVariable(node)) return true
  return wordParts.has(node.type) || node.type === "concatenation"
    ? node.children.every((child) => child !== null && isWord(child))
    : false
}

function isVariable({ type, text }: Node): boolean {
  return (type === "simple_expansion" || type === "expansion") && variableAt(text, 0)?.length === text.length
}

/** The value of a word, with marks where those of variables stand. */
function valueOf(node: Node): string {
  let text = ""
  let end = node.startIndex
  const visit = (part: Node): void => {
    if (!isVariable(part)) return part.children.forEach((child) => child !== null && visit(child))
    text += node.text.slice(end - node.startIndex, part.startIndex - node.startIndex)
    text += variableMark(variableAt(part.text, 0)!.name)
    end = part.endIndex
  }
  visit(node)
  return unquoted(text + node.text.slice(end - node.startIndex))
}

function isPlainWord(node: Node): boolean {
  return wordParts.has(node.type) || node.type === "concatenation"
    ? node.children.every((child) => child !== null && isPlainWord(child))
    : false
}

function addAssignment(node: Node, pieces: Piece[]): boolean {
  const [name, equals, value, ...rest] = node.children
  if (name?.type !== "variable_name" || equals?.type !== "=" || rest.length > 0) return false
  if (value !== undefined && (value === null || !isPlainWord(value))) return false
  return pieces.push({ kind: "assignment", text: unquoted(node.text), at: node.startIndex }) > 0
}

function addRedirect(node: Node, pieces: Piece[]): boolean {
  const children = node.children as Node[]
  const descriptor = children[0]?.type === "file_descriptor" ? children.shift()!.text : ""
  const [operator, target, ...rest] = children
  if (operator === undefined || target === undefined || !redirects.has(operator.type)) return false
  if (!words.has(target.type) || !isPlainWord(target)) return false
  pieces.push({ kind: "redirect", text: `${descriptor}${operator.type}${unquoted(target.text)}`, at: node.startIndex })
  // Words after the target belong to the command.
  return rest.every((word) => words.has(word.type) && addNode(word, pieces))
}

function addHeredoc(node: Node, pieces: Piece[]): boolean {
  const children = node.children as Node[]
  const descriptor = children[0]?.type === "file_descriptor" ? children.shift()!.text : ""
  if (children[0]?.type !== "<<") return false
  const body = children.find(({ type }) => type === "heredoc_body")
  if (body !== undefined && body.children.some((child) => child?.type !== "heredoc_content")) return false
  pieces.push({ kind: "redirect", text: `${descriptor}<<${body?.text ?? ""}`, at: node.startIndex })
  const known = new Set(["<<", "heredoc_start", "heredoc_body", "heredoc_end"])
  return children.every((child) => known.has(child.type) || addNode(child, pieces))
}

/** Puts `;` between two commands that nothing else divides, and takes a last one away. */
function withEnds(pieces: readonly Piece[]): Piece[] {
  const made: Piece[] = []
  let isOpen = false
  for (const piece of pieces) {
    if (piece.kind === "word" && piece.text === begins) {
      const last = made.at(-1)
      const isDivided = last === undefined || (last.kind === "join" ? last.text !== "!" : isOpening(last))
      if (isOpen && !isDivided && last.text !== "!") made.push({ kind: "join", text: ";", at: piece.at })
      isOpen = true
    } else made.push(piece)
  }
  if (made.at(-1)?.kind === "join") made.pop()
  return made
}

function isOpening({ kind, text }: Piece): boolean {
  return kind === "mark" && /^(?:if|then|elif|else|do|[{(])$/.test(text)
}

/** Adds every command and redirection that the tree has anywhere, also where it has errors. */
export function scanTree(parser: Parser, script: string, seen: Seen): void {
  const tree = parse(parser, script)
  if (tree === undefined) return
  const until = performance.now() + patience
  const open: Node[] = [tree.rootNode]
  for (let node = open.pop(); node !== undefined && performance.now() < until; node = open.pop()) {
    if (node.type === "command") seen.commands.push({ words: commandWords(node) })
    else if (node.type === "file_redirect") addTarget(node, seen)
    for (const child of node.children) if (child !== null && child.childCount > 0) open.push(child)
  }
  tree.delete()
}

function commandWords(node: Node): string[] {
  const parts = node.children.filter((child) => child !== null && !notWords.has(child.type)) as Node[]
  return parts.map(({ text }) => unquoted(text))
}

const notWords = new Set(["variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "comment"])

function addTarget(node: Node, seen: Seen): void {
  const at = node.children.findIndex((child) => child !== null && redirects.has(child.type))
  const target = node.children[at + 1]
  if (at !== -1 && target != null)
    seen.redirects.push({ operator: node.children[at]!.type, target: unquoted(target.text) })
}
