/** A JSON text that may have comments and trailing commas. */
export interface Jsonc {
  readonly value: unknown
  /** The text with the value at this path set; everything else stays exactly as it was. */
  with(path: readonly string[], value: unknown): string
  /** The text without the property at this path; the same text if there is none. */
  without(path: readonly string[]): string
  /** The text with one more item at the end of the list at this path, which is made where there is none. */
  withItem(path: readonly string[], value: unknown): string
  /** The text without one item of the list at this path. */
  withoutItem(path: readonly string[], index: number): string
}

/** The text is not JSON. The message says where and what was expected. */
export class JsoncError extends Error {
  override readonly name = "JsoncError"
}

/** Parses the text; an empty text is an empty object. */
export function readJsonc(given: string): Jsonc {
  const text = given.trim() === "" ? "{}\n" : given
  const root = new Reader(text).whole()
  return {
    value: valueOf(root),
    with: (path, value) => put(text, root, path, value),
    without: (path) => remove(text, nodeAt(root, path.slice(0, -1)), path.at(-1) ?? ""),
    withItem: (path, value) => append(text, root, path, value),
    withoutItem(path, index) {
      const items = nodeAt(root, path)?.items ?? []
      return removePart(text, items.map(partOf), index)
    },
  }
}

interface Node {
  start: number
  end: number
  /** For a text, number, true, false or null. */
  plain?: unknown
  items?: Node[]
  properties?: { key: string; start: number; value: Node }[]
}

const maxLevels = 100

class Reader {
  readonly #text: string
  #at = 0
  #level = 0

  constructor(text: string) {
    this.#text = text
    if (text.startsWith("\ufeff")) this.#at = 1
  }

  whole(): Node {
    this.#skip()
    const node = this.#value()
    this.#skip()
    if (this.#at < this.#text.length) this.#fail("nothing after the end")
    return node
  }

  #value(): Node {
    const start = this.#at
    const first = this.#text[start]
    if (first === "{") return this.#nested(() => this.#object())
    if (first === "[") return this.#nested(() => this.#list())
    if (first === '"') return { start, plain: this.#string(), end: this.#at }
    const [word] = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/.exec(
      this.#text.slice(start, start + 400),
    ) ?? [undefined]
    if (word === undefined) return this.#fail("a value")
    this.#at += word.length
    return { start, plain: JSON.parse(word) as unknown, end: this.#at }
  }

  #nested(read: () => Node): Node {
    if (++this.#level > maxLevels) this.#fail(`at most ${maxLevels} levels`)
    const node = read()
    this.#level--
    return node
  }

  #object(): Node {
    const start = this.#at
    const properties: NonNullable<Node["properties"]> = []
    this.#each("}", () => {
      const keyStart = this.#at
      if (this.#text[keyStart] !== '"') this.#fail('a name in quotes, or "}"')
      const key = this.#string()
      this.#skip()
      this.#take(":")
      this.#skip()
      properties.push({ key, start: keyStart, value: this.#value() })
    })
    return { start, properties, end: this.#at }
  }

  #list(): Node {
    const start = this.#at
    const items: Node[] = []
    this.#each("]", () => items.push(this.#value()))
    return { start, items, end: this.#at }
  }

  /** Reads comma-separated items up to the closing bracket; a trailing comma is allowed. */
  #each(close: string, read: () => void): void {
    this.#at++
    for (this.#skip(); this.#text[this.#at] !== close; this.#skip()) {
      read()
      this.#skip()
      if (this.#text[this.#at] === close) break
      this.#take(",")
    }
    this.#at++
  }

  #string(): string {
    const start = this.#at++
    for (; this.#text[this.#at] !== '"'; this.#at++) {
      const character = this.#text[this.#at]
      if (character === undefined || character < " ") this.#fail('a closing "')
      if (character === "\\") this.#at++
    }
    this.#at++
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string
    } catch {
      this.#at = start
      return this.#fail("a text whose escapes are right")
    }
  }

  #take(character: string): void {
    if (this.#text[this.#at] !== character) this.#fail(`"${character}"`)
    this.#at++
  }

  #skip(): void {
    const at = afterTrivia(this.#text, this.#at)
    if (at === undefined) this.#fail("the end of a comment")
    this.#at = at ?? this.#at
  }

  #fail(wanted: string): never {
    const before = this.#text.slice(0, this.#at).split("\n")
    throw new JsoncError(`line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${wanted} was expected`)
  }
}

/** The offset after white space and comments; undefined if a comment does not end. With `line`, at most the end of the line. */
function afterTrivia(text: string, from: number, line = false): number | undefined {
  let at = from
  while (at < text.length) {
    const character = text[at]
    if (character === " " || character === "\t" || (!line && (character === "\n" || character === "\r"))) at++
    else if (text.startsWith("//", at)) {
      const end = text.indexOf("\n", at)
      const stop = end === -1 ? text.length : end
      at = line && text[stop - 1] === "\r" ? stop - 1 : stop
    } else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2)
      if (end === -1) return undefined
      at = end + 2
    } else break
  }
  return at
}

function valueOf({ plain, items, properties }: Node): unknown {
  if (items !== undefined) return items.map(valueOf)
  // Object.fromEntries defines keys instead of assigning them, so __proto__ is an ordinary key.
  if (properties !== undefined) return Object.fromEntries(properties.map(({ key, value }) => [key, valueOf(value)]))
  return plain
}

function put(text: string, root: Node, path: readonly string[], value: unknown): string {
  let node = root
  for (const [index, step] of path.entries()) {
    if (node.properties === undefined) {
      const where = path.slice(0, index).join(".") || "The file"
      throw new JsoncError(`${where} is not an object`)
    }
    const found = propertyOf(node, step)
    if (found === undefined) {
      const nested = path.slice(index + 1).reduceRight((inner: unknown, key) => ({ [key]: inner }), value)
      return insert(text, node, step, nested)
    }
    node = found.value
  }
  return text.slice(0, node.start) + written(text, value, indentAt(text, node.start)) + text.slice(node.end)
}

function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, step) => propertyOf(node, step)?.value, root)
}

function append(text: string, root: Node, path: readonly string[], value: unknown): string {
  const list = nodeAt(root, path)
  if (list === undefined) return put(text, root, path, [value])
  if (list.items === undefined) throw new JsoncError(`${path.join(".")} is not a list`)
  return insertPart(text, list, list.items.map(partOf), (indent) => written(text, value, indent))
}

/** The place of a property or an item in the text. */
interface Part {
  start: number
  end: number
}

const partOf = ({ start, end }: Node): Part => ({ start, end })

function remove(text: string, parent: Node | undefined, name: string): string {
  const found = propertyOf(parent, name)
  if (parent?.properties === undefined || found === undefined) return text
  const parts = parent.properties.map(({ start, value }) => ({ start, end: value.end }))
  return removePart(text, parts, parent.properties.indexOf(found))
}

/** Removes a part with its comma. Comments between parts stay. */
function removePart(text: string, parts: readonly Part[], index: number): string {
  const found = parts[index]
  if (found === undefined) return text
  const { end } = found
  const comma = afterTrivia(text, end) ?? end
  const hasComma = text[comma] === ","
  const rest = hasComma ? text.slice(end, comma) + text.slice(comma + 1) : text.slice(end)
  // Its line goes too, unless something follows on it, which a comment before it must not swallow.
  const from = /^[ \t]*\r?\n/.test(rest) ? text.slice(0, found.start).trimEnd().length : found.start
  if (hasComma) return text.slice(0, from) + rest
  const before = parts[index - 1]
  if (before === undefined) return text.slice(0, from) + rest
  const lastComma = afterTrivia(text, before.end) ?? from
  return text.slice(0, lastComma) + text.slice(lastComma + 1, from) + rest
}

function propertyOf(node: Node | undefined, name: string) {
  return node?.properties?.findLast(({ key }) => key === name)
}

/** Inserts a property after the last one. */
function insert(text: string, object: Node, key: string, value: unknown): string {
  const parts = (object.properties ?? []).map(({ start, value: { end } }) => ({ start, end }))
  return insertPart(text, object, parts, (indent) => pair(text, key, value, indent))
}

/** Inserts a property or an item after the last one. */
function insertPart(text: string, whole: Node, parts: readonly Part[], make: (indent: string) => string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  const last = parts.at(-1)
  const base = indentAt(text, whole.start)
  if (last === undefined) {
    const inner = text.slice(0, whole.end - 1).trimEnd()
    const indent = base + unitOf(text)
    return `${inner}${newline}${indent}${make(indent)}${newline}${base}${text.slice(whole.end - 1)}`
  }
  const { end } = last
  const oneLine = !text.slice(whole.start, last.start).includes("\n")
  const indent = oneLine ? base : indentAt(text, last.start)
  const comma = afterTrivia(text, end) ?? end
  const hasComma = text[comma] === ","
  const from = hasComma ? comma + 1 : end
  const at = afterTrivia(text, from, true) ?? from
  const isCommented = text.slice(from, at).includes("//")
  const gap = oneLine && !isCommented ? " " : `${newline}${indent}`
  const before = text.slice(0, end) + (hasComma ? "" : ",") + text.slice(end, at).trimEnd()
  const after = text.slice(at)
  const space =
    oneLine && after.startsWith(text[whole.end - 1] ?? "}") && parts[0] !== undefined && whole.properties ? " " : ""
  return `${before}${gap}${make(indent)}${space}${after}`
}

function pair(text: string, key: string, value: unknown, indent: string): string {
  return `${JSON.stringify(key)}: ${written(text, value, indent)}`
}

function written(text: string, value: unknown, indent: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", newline + indent)
}

/** The indentation of the line at this offset. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ""
}

/** The indentation of one level, taken from the first indented line. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1]?.slice(0, 8) ?? "  "
}
