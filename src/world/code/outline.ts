import type { Language as Grammar, Node, Parser, Query, QueryMatch } from "web-tree-sitter"
import { codeKinds, type CodeKind } from "../../model/code.ts"
import type { Language } from "./languages.ts"
import { outlineQuery } from "./queries.ts"

/**
 * The declarations of one file, packed so that a hundred thousand of them are small and cross between threads cheaply.
 * A name's four numbers are its line and column from 0, its kind's place in `kinds`, and the place of what it stands in (-1).
 */
export interface Outline {
  /** One name a line. */
  readonly names: string
  readonly numbers: Int32Array
}

/** Every kind of declaration, and *scope*: what only encloses others. */
export const kinds = [...codeKinds, "scope"] as const

/** How long one file may take: a hostile one has no end. */
const longestMs = 2000
const mostNames = 20_000

export interface Outliner {
  /** Undefined when the text has no syntax tree worth the name. */
  outline(text: string, language: Language): Promise<Outline | undefined>
}

/** Reads declarations from syntax trees. Grammars are loaded when a file of their language comes. */
export function outliner(folder: string): Outliner {
  const loaded = new Map<Language, Promise<{ parser: Parser; query: Query }>>()
  const load = async (language: Language) => {
    const { Language, Parser, Query } = await runtime()
    const grammar: Grammar = await Language.load(`${folder}/tree-sitter-${language}.wasm`)
    const parser = new Parser()
    parser.setLanguage(grammar)
    return { parser, query: new Query(grammar, outlineQuery(language)) }
  }
  return {
    async outline(text, language) {
      if (!loaded.has(language)) loaded.set(language, load(language))
      const { parser, query } = await loaded.get(language)!
      const until = performance.now() + longestMs
      const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until })
      if (tree === null) {
        parser.reset()
        return undefined
      }
      try {
        const outline = pack(declarations(query.matches(tree.rootNode, { matchLimit: 65_536 })))
        return outline.numbers.length === 0 && tree.rootNode.hasError ? undefined : outline
      } finally {
        tree.delete()
      }
    },
  }
}

let started: Promise<typeof import("web-tree-sitter")> | undefined

function runtime(): Promise<typeof import("web-tree-sitter")> {
  return (started ??= import("web-tree-sitter").then(async (module) => {
    await module.Parser.init()
    return module
  }))
}

interface Declaration {
  kind: CodeKind | "scope"
  start: number
  end: number
  name: string
  owner: string | undefined
  line: number
  column: number
}

/** In the order of the text, the enclosing before the enclosed; of patterns with the same name node the upper one. */
function declarations(matches: readonly QueryMatch[]): Declaration[] {
  const best = new Map<number, { pattern: number; match: QueryMatch }>()
  for (const match of matches) {
    const at = node(match, "name")?.startIndex
    if (at === undefined) continue
    const seen = best.get(at)
    if (seen === undefined || match.patternIndex < seen.pattern) best.set(at, { pattern: match.patternIndex, match })
  }
  return [...best.values()]
    .slice(0, mostNames)
    .flatMap(({ match }) => declarationOf(match) ?? [])
    .sort((one, other) => one.start - other.start || other.end - one.end)
}

function declarationOf(match: QueryMatch): Declaration | undefined {
  const named = node(match, "name")!
  const { name: kind, node: part } = match.captures.find(({ name }) => (kinds as readonly string[]).includes(name))!
  const whole = part.type.endsWith("_declarator") ? declaredBy(part) : part
  if (whole === undefined) return undefined
  const { row, column } = named.startPosition
  const text = named.text
    .replace(/\s+/g, " ")
    .replace(/^(["'])(.*)\1$/, "$2")
    .slice(0, 500)
  // `Server::start` is declared outside of what it belongs to.
  const split = text.includes("<") ? -1 : text.lastIndexOf("::")
  return {
    kind: kind as CodeKind,
    start: whole.startIndex,
    end: whole.endIndex,
    name: split > 0 ? text.slice(split + 2) : types.has(kind) ? text.replace(/(?<=.)<.*/, "") : text,
    owner: split > 0 ? text.slice(0, split).replaceAll("::", ".") : node(match, "owner")?.text,
    line: row,
    column: split > 0 ? column + split + 2 : column,
  }
}

/** What a declarator of C or Java belongs to: a function as a whole, else the declarator itself; a parameter declares nothing. */
function declaredBy(part: Node): Node | undefined {
  let above = part.parent
  while (above?.type.endsWith("_declarator") === true) above = above.parent
  if (above?.type.endsWith("parameter_declaration") === true) return undefined
  return above?.type === "function_definition" ? above : part
}

function node(match: QueryMatch, name: string): Node | undefined {
  return match.captures.find((capture) => capture.name === name)?.node
}

function pack(list: readonly Declaration[]): Outline {
  const names: string[] = []
  const numbers: number[] = []
  const open: { place: number; start: number; end: number; kind: Declaration["kind"] }[] = []
  const seen = new Set<string>()
  const add = (name: string, line: number, column: number, kind: Declaration["kind"], parent: number) => {
    names.push(name)
    numbers.push(line, column, kinds.indexOf(kind), parent)
    return names.length - 1
  }
  for (const one of list) {
    while (open.length > 0 && !encloses(open.at(-1)!, one)) open.pop()
    const inside = open.at(-1)
    const kind = placed(one, inside?.kind)
    let parent = inside?.place ?? -1
    // What is assigned again in the same place is declared once.
    const key = `${parent} ${one.name}`
    if (kind === "variable" && seen.has(key)) continue
    seen.add(key)
    if (one.owner !== undefined) parent = add(one.owner, one.line, one.column, "scope", parent)
    open.push({ place: add(one.name, one.line, one.column, kind, parent), start: one.start, end: one.end, kind })
  }
  return { names: names.join("\n"), numbers: Int32Array.from(numbers) }
}

function encloses(outer: { start: number; end: number }, inner: Declaration): boolean {
  return outer.end >= inner.end && !(outer.start === inner.start && outer.end === inner.end)
}

const types = new Set<string>(["class", "interface", "struct", "enum", "union", "trait", "scope"])

/** A function of a class is its method, a variable its field. */
function placed({ kind, owner }: Declaration, inside: Declaration["kind"] | undefined): Declaration["kind"] {
  const ofType = owner !== undefined || (inside !== undefined && types.has(inside))
  if (kind === "function" && ofType) return "method"
  return kind === "variable" && ofType && owner === undefined ? "field" : kind
}
