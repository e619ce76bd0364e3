import type { JsonSchema } from "./schema.ts"

/** Where a schema marks secrets: each a path of property names, `*` for the items of a list. */
export type SecretPaths = readonly (readonly string[])[]

const known = new WeakMap<JsonSchema, SecretPaths>()

/**
 * The places a schema marks as secret: `secret: true` (in Zod: `.meta({ secret: true })`), `writeOnly: true` or
 * `format: "password"`. The record never shows what stands there.
 */
export function secretPaths(schema: JsonSchema): SecretPaths {
  let paths = known.get(schema)
  if (paths === undefined) known.set(schema, (paths = collect(schema, [])))
  return paths
}

function collect(node: unknown, path: readonly string[]): string[][] {
  if (typeof node !== "object" || node === null || path.length > 20) return []
  const schema = node as JsonSchema
  if (schema["secret"] === true || schema["writeOnly"] === true || schema["format"] === "password") return [[...path]]
  const properties = Object.entries((schema["properties"] as JsonSchema | undefined) ?? {})
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((word) => (schema[word] as unknown[] | undefined) ?? [])
  return [
    ...properties.flatMap(([name, part]) => collect(part, [...path, name])),
    ...collect(schema["items"], [...path, "*"]),
    ...collect(schema["additionalProperties"], [...path, "*"]),
    ...parts.flatMap((part) => collect(part, path)),
  ]
}

/** A copy of the value with something else in each of those places; the value itself when there are none. */
export function withoutSecrets(value: unknown, paths: SecretPaths, instead: string): unknown {
  if (paths.length === 0 || typeof value !== "object" || value === null)
    return paths.some((path) => path.length === 0) ? instead : value
  const isList = Array.isArray(value)
  const copy = Object.entries(value).map(([name, part]: [string, unknown]) => {
    const inside = paths.filter(([first]) => first === name || first === "*")
    if (inside.some((path) => path.length === 1) && part !== undefined) return [name, instead] as const
    return [
      name,
      withoutSecrets(
        part,
        inside.map((path) => path.slice(1)),
        instead,
      ),
    ] as const
  })
  return isList ? copy.map(([, part]) => part) : Object.fromEntries(copy)
}
