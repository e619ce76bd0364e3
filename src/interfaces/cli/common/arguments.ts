import type { JsonSchema } from "../../../core/schema.ts"
import { jsonTypesOf, hasProperty, shapeOf, type Shape } from "../terminal/shape.ts"
import { UsageError } from "./usage.ts"

/** One `key=value` or `key:=json`. */
interface Given {
  text: string
  isJson: boolean
}

type Branch = Map<string, unknown>

const maxDepth = 100
const quotingHint = `Quote it for the shell, for example '{"text":"hello"}'.`

/**
 * Reads a tool's input from the command line: one JSON object, or key=value pairs. The tool's schema decides whether a
 * value is text or JSON. Keys the schema does not know are passed on as text; the call's validation reports them.
 */
export function readArguments(words: readonly string[], schema: JsonSchema | undefined): unknown {
  const [first = ""] = words
  if (words.length === 1 && first.trimStart().startsWith("{")) return parseJsonArgument(first, "The arguments are")
  const shapes = shapeOf(schema)
  const tree: Branch = new Map()
  for (const [key, given] of readPairs(words)) {
    const path = hasProperty(shapes.whole, key) ? [key] : key.split(".")
    if (path.length > maxDepth)
      throw new UsageError(`A parameter can be ${maxDepth} levels deep at most. Give the input as JSON.`)
    const shape = path.reduce<Shape>((here, name) => shapes.at(here, name), shapes.whole)
    put(tree, path, valueOf(key, given, shape, shapes.items(shape)))
  }
  return asObject(tree)
}

/** Parses JSON or throws a UsageError that says what is not JSON. */
export function parseJsonArgument(text: string, what: string, help = quotingHint): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${what} not JSON (${(error as Error).message}). ${help}`)
  }
}

function readPairs(words: readonly string[]): Map<string, Given[]> {
  const pairs = new Map<string, Given[]>()
  for (const word of words) {
    const at = word.indexOf("=")
    const isJson = at > 0 && word[at - 1] === ":"
    const key = word.slice(0, isJson ? at - 1 : Math.max(at, 0))
    if (key === "")
      throw new UsageError(`'${word}' cannot be read. Give key=value, key:=json, one JSON object, or - for stdin.`)
    pairs.set(key, [...(pairs.get(key) ?? []), { text: word.slice(at + 1), isJson }])
  }
  return pairs
}

function valueOf(key: string, given: readonly Given[], shape: Shape, items: Shape): unknown {
  const [only] = given
  if (only !== undefined && given.length === 1) return readText(key, only, shape)
  if (!jsonTypesOf(shape).has("array")) throw new UsageError(`Parameter '${key}' is given twice. Keep one of them.`)
  return given.map((each) => readText(key, each, items))
}

function readText(key: string, { text, isJson }: Given, shape: Shape): unknown {
  if (isJson) return parseJsonArgument(text, `The value of '${key}' is`)
  const kinds = jsonTypesOf(shape)
  if (shape.length === 0 || kinds.has("string")) return text
  try {
    return JSON.parse(text)
  } catch {
    // The schema allows any type, so text that is not JSON stays text.
    if (kinds.size === 0) return text
    throw new UsageError(
      `Parameter '${key}' takes ${[...kinds].map(wordFor).join(" or ")}, and '${text}' is not that.${hint(key, kinds)}`,
    )
  }
}

function wordFor(kind: string): string {
  const words: Readonly<Record<string, string>> = {
    integer: "a whole number",
    boolean: "true or false",
    array: "a JSON list",
    object: "a JSON object",
    null: "null",
  }
  return words[kind] ?? `a ${kind}`
}

function hint(key: string, kinds: ReadonlySet<string>): string {
  if (kinds.has("array")) return ` Write ${key}='["one","two"]', or ${key}=one ${key}=two.`
  return kinds.has("object") ? ` Write ${key}='{"name":"value"}', or ${key}.name=value.` : ""
}

/** A Map, because on an object the key `__proto__` would reach the prototype. */
function put(tree: Branch, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path
  const existing = tree.get(name)
  if (existing !== undefined && !(rest.length > 0 && existing instanceof Map)) {
    throw new UsageError(`Parameter '${name}' is given as a whole and in parts. Keep one of them.`)
  }
  if (rest.length === 0) tree.set(name, value)
  else {
    const branch: Branch = existing instanceof Map ? existing : new Map<string, unknown>()
    tree.set(name, branch)
    put(branch, rest, value)
  }
}

function asObject(tree: Branch): Record<string, unknown> {
  // Object.fromEntries defines keys instead of assigning them, so __proto__ is an ordinary key.
  return Object.fromEntries(
    [...tree].map(([name, value]) => [name, value instanceof Map ? asObject(value as Branch) : value]),
  )
}
