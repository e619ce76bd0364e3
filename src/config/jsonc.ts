/** A JSON text that may have comments and commas before a closing bracket, as editors write it. */
export interface Jsonc {
  readonly value: unknown
  /** The same text with one value put at this path, where it replaces what is there. All else stays as it is, to the letter. */
  with(path: readonly string[], value: unknown): string
}

/** The text is no JSON; the message says where and what was expected. */
export class JsoncError extends Error {
  override readonly name = "JsoncError"
}

/** Reads such a text; an empty one is an empty object. */
export function readJsonc(given: string): Jsonc {
  const text = given.trim() === "" ? "{}\n" : given
  const root = new Reader(text).whole()
  return {
    value: valueOf(root),
    with: (path, value) => put(text, root, path, value),
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

const mostLevels = 100

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
    if (++this.#level > mostLevels) this.#fail(`at most ${mostLevels} levels`)
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

  /** What stands between two brackets, with commas between and perhaps one at the end. */
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

/** Where the next thing that counts stands; undefined when a comment does not end. With `line`, not beyond this line's end. */
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
  // fromEntries defines keys instead of assigning them, so that a key named __proto__ is only a key.
  if (properties !== undefined) return Object.fromEntries(properties.map(({ key, value }) => [key, valueOf(value)]))
  return plain
}

function put(text: string, root: Node, path: readonly string[], value: unknown): string {
  let node = root
  for (const [index, step] of path.entries()) {
    if (node.properties === undefined) {
      const where = path.slice(0, index).join(".") || "The file"
      throw new JsoncError(`${where} is no object with names and values`)
    }
    const found = node.properties.findLast(({ key }) => key === step)
    if (found === undefined) {
      const nested = path.slice(index + 1).reduceRight((inner: unknown, key) => ({ [key]: inner }), value)
      return insert(text, node, step, nested)
    }
    node = found.value
  }
  return text.slice(0, node.start) + written(text, value, indentAt(text, node.start)) + text.slice(node.end)
}

/** Puts a new name behind the last one, or into an object that has none. */
function insert(text: string, object: Node, key: string, value: unknown): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  const last = object.properties?.at(-1)
  const base = indentAt(text, object.start)
  if (last === undefined) {
    const inner = text.slice(0, object.end - 1).trimEnd()
    const indent = base + unitOf(text)
    return `${inner}${newline}${indent}${pair(text, key, value, indent)}${newline}${base}${text.slice(object.end - 1)}`
  }
  const end = last.value.end
  const oneLine = !text.slice(object.start, last.start).includes("\n")
  const indent = oneLine ? base : indentAt(text, last.start)
  const comma = afterTrivia(text, end) ?? end
  const hasComma = text[comma] === ","
  const from = hasComma ? comma + 1 : end
  const at = afterTrivia(text, from, true) ?? from
  const isCommented = text.slice(from, at).includes("//")
  const gap = oneLine && !isCommented ? " " : `${newline}${indent}`
  const before = text.slice(0, end) + (hasComma ? "" : ",") + text.slice(end, at).trimEnd()
  const after = text.slice(at)
  const space = oneLine && after.startsWith("}") ? " " : ""
  return `${before}${gap}${pair(text, key, value, indent)}${space}${after}`
}

function pair(text: string, key: string, value: unknown, indent: string): string {
  return `${JSON.stringify(key)}: ${written(text, value, indent)}`
}

function written(text: string, value: unknown, indent: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", newline + indent)
}

/** The white space the line of this place begins with. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ""
}

/** What one level is indented by, told from the first line that is. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1]?.slice(0, 8) ?? "  "
}
