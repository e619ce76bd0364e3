import type { JsonSchema, SecretPaths } from "../core/schema.ts"

const known = new WeakMap<JsonSchema, SecretPaths>()
const deepest = 12
/** A schema that takes more steps (only one that refers to itself does) is treated as secret as a whole. */
const mostSteps = 20_000

/**
 * The paths that a schema marks as secret: `secret: true` (in Zod: `.meta({ secret: true })`), `writeOnly: true` or
 * `format: "password"`. The audit log never shows these values.
 */
export function secretPaths(schema: JsonSchema): SecretPaths {
  let paths = known.get(schema)
  if (paths === undefined) known.set(schema, (paths = placesIn(schema)))
  return paths
}

function placesIn(root: JsonSchema): SecretPaths {
  const leading = leadingToSecrets(root)
  const found = new Map<string, readonly string[]>()
  const stack = new Set<string>()
  let steps = 0

  function collect(schema: JsonSchema, path: readonly string[]): void {
    if (path.length > deepest || !leading.has(schema) || ++steps > mostSteps) return
    if (isMarked(schema)) return void found.set(path.join("\0"), path)
    for (const [part, name] of partsOf(schema, root)) {
      if (name !== undefined) collect(part, [...path, name])
      else if (!stack.has(`${idOf(part)} ${path.length}`)) {
        // A part without a name of its own (anyOf, $ref) may lead back to itself: stop there.
        const mark = `${idOf(part)} ${path.length}`
        stack.add(mark)
        collect(part, path)
        stack.delete(mark)
      }
    }
  }

  const ids = new Map<JsonSchema, number>()
  function idOf(schema: JsonSchema): number {
    if (!ids.has(schema)) ids.set(schema, ids.size)
    return ids.get(schema)!
  }

  collect(root, [])
  return steps > mostSteps ? [[]] : [...found.values()]
}

function isMarked(schema: JsonSchema): boolean {
  return schema["secret"] === true || schema["writeOnly"] === true || schema["format"] === "password"
}

/** The parts of a schema from which a secret can be reached. Most schemas have none, so the search ends at once. */
function leadingToSecrets(root: JsonSchema): Set<JsonSchema> {
  const above = new Map<JsonSchema, JsonSchema[]>([[root, []]])
  const marked: JsonSchema[] = []
  const waiting = [root]
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (isMarked(schema)) marked.push(schema)
    for (const [part] of partsOf(schema, root)) {
      const parents = above.get(part)
      if (parents === undefined) {
        above.set(part, [schema])
        waiting.push(part)
      } else parents.push(schema)
    }
  }
  const leading = new Set(marked)
  for (const schema of leading) for (const parent of above.get(schema) ?? []) leading.add(parent)
  return leading
}

/** The subschemas: of parts of a value, each with the part's name, and of the value itself, without a name. */
function partsOf(schema: JsonSchema, root: JsonSchema): [JsonSchema, string | undefined][] {
  const parts: [JsonSchema, string | undefined][] = []
  const add = (part: unknown, name?: string) => {
    if (typeof part === "object" && part !== null && !Array.isArray(part)) parts.push([part as JsonSchema, name])
  }
  for (const [name, part] of Object.entries((schema["properties"] as JsonSchema | undefined) ?? {})) add(part, name)
  for (const part of Object.values((schema["patternProperties"] as JsonSchema | undefined) ?? {})) add(part, "*")
  for (const word of ["items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"])
    for (const part of [schema[word]].flat()) add(part, "*")
  for (const part of listOf(schema["prefixItems"])) add(part, "*")
  for (const word of ["anyOf", "oneOf", "allOf"]) for (const part of listOf(schema[word])) add(part)
  for (const word of ["if", "then", "else"]) add(schema[word])
  for (const part of Object.values((schema["dependentSchemas"] as JsonSchema | undefined) ?? {})) add(part)
  if (typeof schema["$ref"] === "string") add(resolveReference(schema["$ref"], root))
  return parts
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The target of a reference within the schema. Undefined for other references. */
function resolveReference(ref: string, root: JsonSchema): unknown {
  if (ref === "#") return root
  if (!ref.startsWith("#/")) return undefined
  let target: unknown = root
  for (const step of ref.slice(2).split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")
    target = typeof target === "object" && target !== null ? (target as JsonSchema)[name] : undefined
  }
  return target
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** A copy of the value with `instead` at each of the paths. The value itself when there are no paths. */
export function replaceSecrets(value: unknown, paths: SecretPaths, instead: string): unknown {
  if (paths.some((path) => path.length === 0)) return instead
  if (paths.length === 0 || typeof value !== "object" || value === null) return value
  const copy = Object.entries(value).map(([name, part]: [string, unknown]) => {
    const inside = paths.filter(([first]) => first === name || first === "*").map((path) => path.slice(1))
    return [name, part === undefined ? part : replaceSecrets(part, inside, instead)] as const
  })
  return Array.isArray(value) ? copy.map(([, part]) => part) : Object.fromEntries(copy)
}
