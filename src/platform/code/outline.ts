import type { Language as Grammar, Node, Parser, Query, QueryMatch } from "web-tree-sitter"
import { codeKinds, type CodeKind } from "./code.ts"
import type { Language } from "./languages.ts"
import { outlineQuery } from "./outline-queries.ts"

/**
 * The declarations of one file, packed so that many of them need little memory and cross between threads cheaply. Each
 * name has four numbers: its line and column from 0, the index of its kind in `outlineKinds`, and the index of the
 * declaration around it (-1 for none).
 */
export interface Outline {
  /** One name per line. */
  readonly names: string
  readonly numbers: Int32Array
}

/** Every kind of declaration, and *scope*, which only encloses others. */
export const outlineKinds = [...codeKinds, "scope"] as const

/** Limits for one file, which may be hostile. */
const maxMs = 2000
const maxNames = 20_000

export interface Outliner {
  /** Undefined if the text could not be parsed. */
  outline(text: string, language: Language): Promise<Outline | undefined>
}

/** Reads declarations from syntax trees. Loads each grammar when it is first needed. */
export function createOutliner(folder: string): Outliner {
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
      const until = performance.now() + maxMs
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

/** In text order, outer declarations before inner ones. If patterns share a name node, the first pattern wins. */
function declarations(matches: readonly QueryMatch[]): Declaration[] {
  const best = new Map<number, { pattern: number; match: QueryMatch }>()
  for (const match of matches) {
    const at = node(match, "name")?.startIndex
    if (at === undefined) continue
    const seen = best.get(at)
    if (seen === undefined || match.patternIndex < seen.pattern) best.set(at, { pattern: match.patternIndex, match })
  }
  return [...best.values()]
    .slice(0, maxNames)
    .flatMap(({ match }) => declarationOf(match) ?? [])
    .sort((a, b) => a.start - b.start || b.end - a.end)
}

function declarationOf(match: QueryMatch): Declaration | undefined {
  const named = node(match, "name")!
  const { name: kind, node: part } = match.captures.find(({ name }) =>
    (outlineKinds as readonly string[]).includes(name),
  )!
  const whole = part.type.endsWith("_declarator") ? declaredBy(part) : part
  if (whole === undefined) return undefined
  const { row, column } = named.startPosition
  const text = named.text
    .replace(/\s+/g, " ")
    .replace(/^(["'])(.*)\1$/, "$2")
    .slice(0, 500)
  // `Server::start` is declared outside of its class.
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

/** The node that a C or Java declarator declares: the whole function, else the declarator. Parameters declare nothing. */
function declaredBy(part: Node): Node | undefined {
  let outer = part.parent
  while (outer?.type.endsWith("_declarator") === true) outer = outer.parent
  if (outer?.type.endsWith("parameter_declaration") === true) return undefined
  return outer?.type === "function_definition" ? outer : part
}

function node(match: QueryMatch, name: string): Node | undefined {
  return match.captures.find((capture) => capture.name === name)?.node
}

function pack(list: readonly Declaration[]): Outline {
  const names: string[] = []
  const numbers: number[] = []
  const open: { index: number; start: number; end: number; kind: Declaration["kind"] }[] = []
  const seen = new Set<string>()
  const add = (name: string, line: number, column: number, kind: Declaration["kind"], parent: number) => {
    names.push(name)
    numbers.push(line, column, outlineKinds.indexOf(kind), parent)
    return names.length - 1
  }
  for (const declaration of list) {
    const { name, owner, line, column, start, end } = declaration
    while (open.length > 0 && !encloses(open.at(-1)!, declaration)) open.pop()
    const outer = open.at(-1)
    const kind = kindInside(declaration, outer?.kind)
    let parent = outer?.index ?? -1
    // A variable that is assigned again in the same scope is declared once.
    const key = `${parent} ${name}`
    if (kind === "variable" && seen.has(key)) continue
    seen.add(key)
    if (owner !== undefined) parent = add(owner, line, column, "scope", parent)
    open.push({ index: add(name, line, column, kind, parent), start, end, kind })
  }
  return { names: names.join("\n"), numbers: Int32Array.from(numbers) }
}

function encloses(outer: { start: number; end: number }, inner: Declaration): boolean {
  return outer.end >= inner.end && !(outer.start === inner.start && outer.end === inner.end)
}

const types = new Set<string>(["class", "interface", "struct", "enum", "union", "trait", "scope"])

/** A function in a class is a method, a variable in it a field. */
function kindInside({ kind, owner }: Declaration, outer: Declaration["kind"] | undefined): Declaration["kind"] {
  const ofType = owner !== undefined || (outer !== undefined && types.has(outer))
  if (kind === "function" && ofType) return "method"
  return kind === "variable" && ofType && owner === undefined ? "field" : kind
}
