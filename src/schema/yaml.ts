import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, Parser, visit } from "yaml"
import type { Alias, CST, Document } from "yaml"

import { explainYaml, parserWords, unknownAnchor } from "./yaml-sentences.ts"

type Path = readonly (string | number)[]

interface Place {
  line: number
  column: number
}

export interface ReadYaml {
  value: unknown
  problems: (Place & { sentence: string })[]
  /** The position of the value at `path` or of its key; if it does not exist, of the nearest parent. */
  placeOf(path: Path, what?: "key" | "value"): Place
}

/** Parses YAML or JSON. The value is plain data, and undefined if the text cannot be parsed. */
export function readYaml(text: string): ReadYaml {
  const lineCounter = new LineCounter()
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  const problems: ReadYaml["problems"] = []
  const note = (offset: number, sentence: string) => problems.push({ ...placeAt(offset), sentence })
  if (isDeep(text)) {
    const start = { line: 1, column: 1 }
    return { value: undefined, problems: [{ ...start, sentence: tooDeep }], placeOf: () => start }
  }
  // The library checks for duplicates by comparing every key with every other; duplicateKeys is faster.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "error", uniqueKeys: false })
  let lastLine = 0
  for (const problem of [...document.errors, ...document.warnings]) {
    const { line } = placeAt(problem.pos[0])
    const { offset, sentence } = explainYaml(problem, text, document)
    // One mistake breaks the rest of its line, so only the first problem of a line is reported.
    if (line !== lastLine && placeAt(offset).line !== problems.at(-1)?.line) note(offset, sentence)
    lastLine = line
  }
  const placeOf: ReadYaml["placeOf"] = (path, what) => placeAt(offsetOf(document, path, what))
  if (document.errors.length > 0) return { value: undefined, problems, placeOf }
  for (const { key, offset } of duplicateKeys(document))
    note(offset, `'${key}' is written twice here. Keep one of them.`)
  const aliases = aliasesOf(document)
  try {
    if (aliases.length > maxAliases) throw new Error(`there are more than ${maxAliases} aliases`)
    return { value: plain(document.toJS({ maxAliasCount: maxAliases })), problems, placeOf }
  } catch (error) {
    const unknown = aliases.slice(0, maxAliases).find((alias) => !alias.resolve(document))
    if (unknown !== undefined) note(startOf(unknown) ?? 0, unknownAnchor(unknown.source))
    else note(startOf(aliases[0]) ?? 0, parserWords((error as Error).message))
    return { value: undefined, problems, placeOf }
  }
}

/** Parses text as a plain scalar (number, boolean or null); anything else stays text. */
export function readScalar(text: string): unknown {
  if (text.length > 100) return text
  const { contents, errors } = parseDocument(text, { logLevel: "error" })
  const whole = isScalar(contents) && contents.type === "PLAIN" && contents.source === text && errors.length === 0
  return whole ? contents.value : text
}

const maxAliases = 100
const maxLevels = 50
const tooDeep = `The values are nested more than ${maxLevels} levels deep. Write fewer levels.`

/** The library composes documents recursively, so deep nesting would crash the process. Its tokens can be checked iteratively. */
function isDeep(text: string): boolean {
  const waiting = [...new Parser().parse(text)].map((token): [CST.Token, number] => [token, 0])
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [token, depth] = next
    if (depth > maxLevels) return true
    const items = token.type === "document" ? [token] : "items" in token ? token.items : []
    for (const { key, value } of items as { key?: CST.Token | null; value?: CST.Token }[]) {
      for (const part of [key, value]) if (part) waiting.push([part, depth + 1])
    }
  }
  return false
}

function plain(value: unknown, depth = 0): unknown {
  if (depth > maxLevels) throw new Error("values contain themselves")
  if (Array.isArray(value)) value.forEach((part) => plain(part, depth + 1))
  else if (typeof value === "object" && value !== null) {
    if (Object.getPrototypeOf(value) !== Object.prototype || Object.hasOwn(value, "__proto__")) {
      throw new Error("a key or value is of a kind that a configuration cannot have")
    }
    Object.values(value).forEach((part) => plain(part, depth + 1))
  }
  return value
}

function offsetOf(document: Document, path: Path, what: "key" | "value" = "value"): number {
  let node: unknown = document.contents
  let key: unknown
  for (const step of path) {
    const here: unknown = isAlias(node) ? node.resolve(document) : node
    const pair = isMap(here) ? here.items.find((item) => String(item.key) === step) : undefined
    const item: unknown = isSeq(here) && typeof step === "number" ? here.items[step] : undefined
    if (!pair && !item) break
    node = pair ? pair.value : item
    key = pair?.key
  }
  return startOf(what === "key" ? (key ?? node) : node) ?? startOf(key) ?? 0
}

function duplicateKeys(document: Document): { key: string; offset: number }[] {
  const found: { key: string; offset: number }[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const item of map.items) {
        const key = String(item.key)
        if (seen.has(key)) found.push({ key, offset: startOf(item.key) ?? 0 })
        seen.add(key)
      }
    },
  })
  return found
}

function startOf(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null | undefined)?.range?.[0]
}

function aliasesOf(document: Document): Alias[] {
  const aliases: Alias[] = []
  visit(document, { Alias: (_, alias) => void aliases.push(alias) })
  return aliases
}
