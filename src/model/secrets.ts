import type { JsonSchema } from "./schema.ts"

/** Where a schema marks secrets: each a path of property names, `*` for any name or place in a list. */
export type SecretPaths = readonly (readonly string[])[]

const known = new WeakMap<JsonSchema, SecretPaths>()
const deepest = 12

/**
 * The places a schema marks as secret: `secret: true` (in Zod: `.meta({ secret: true })`), `writeOnly: true` or
 * `format: "password"`. The record never shows what stands there.
 */
export function secretPaths(schema: JsonSchema): SecretPaths {
  let paths = known.get(schema)
  if (paths === undefined) known.set(schema, (paths = collect(schema, [], schema)))
  return paths
}

function collect(node: unknown, path: readonly string[], root: JsonSchema): string[][] {
  if (typeof node !== "object" || node === null || path.length > deepest) return []
  const schema = node as JsonSchema
  if (schema["secret"] === true || schema["writeOnly"] === true || schema["format"] === "password") return [[...path]]
  const found: string[][] = []
  const look = (part: unknown, ...names: string[]) => void found.push(...collect(part, [...path, ...names], root))
  for (const [name, part] of Object.entries((schema["properties"] as JsonSchema | undefined) ?? {})) look(part, name)
  for (const part of Object.values((schema["patternProperties"] as JsonSchema | undefined) ?? {})) look(part, "*")
  for (const word of ["items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"])
    look(schema[word], "*")
  for (const part of (schema["prefixItems"] as unknown[] | undefined) ?? []) look(part, "*")
  for (const word of ["anyOf", "oneOf", "allOf"])
    for (const part of (schema[word] as unknown[] | undefined) ?? []) look(part)
  for (const word of ["if", "then", "else"]) look(schema[word])
  // A reference to what is being looked at only ends with the depth, so it may not stay in place.
  if (typeof schema["$ref"] === "string" && path.length < deepest) found.push(...collectRef(schema["$ref"], path, root))
  return found
}

function collectRef(ref: string, path: readonly string[], root: JsonSchema): string[][] {
  if (!ref.startsWith("#/") || seen.has(`${ref} ${path.length}`)) return []
  const steps = ref
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"))
  let target: unknown = root
  for (const step of steps)
    target = typeof target === "object" && target !== null ? (target as JsonSchema)[step] : undefined
  const mark = `${ref} ${path.length}`
  seen.add(mark)
  try {
    return collect(target, path, root)
  } finally {
    seen.delete(mark)
  }
}

/** References being followed at a depth, so that one that points at itself ends. */
const seen = new Set<string>()

/** A copy of the value with something else in each of those places; the value itself when there are none. */
export function withoutSecrets(value: unknown, paths: SecretPaths, instead: string): unknown {
  if (paths.some((path) => path.length === 0)) return instead
  if (paths.length === 0 || typeof value !== "object" || value === null) return value
  const copy = Object.entries(value).map(([name, part]: [string, unknown]) => {
    const inside = paths.filter(([first]) => first === name || first === "*").map((path) => path.slice(1))
    return [name, part === undefined ? part : withoutSecrets(part, inside, instead)] as const
  })
  return Array.isArray(value) ? copy.map(([, part]) => part) : Object.fromEntries(copy)
}
