import { isObject } from "../lib/is-object.ts"
import type { JsonSchema } from "../core/schema.ts"

const oneSchema = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
])
const manySchemas = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
const namedSchemas = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
])

const repaired = new WeakMap<JsonSchema, JsonSchema>()

/**
 * A schema that every provider accepts: an object at the root, arrays with `items`, no empty enum, nothing undefined, no
 * `$schema`. Returns the same object when there is nothing to repair, and never changes the given one.
 */
export function repairSchema(json: JsonSchema): JsonSchema {
  let result = repaired.get(json)
  if (result === undefined) {
    result = repairRoot(repairNode(json))
    repaired.set(json, result)
  }
  return result
}

function repairRoot(json: JsonSchema): JsonSchema {
  const hasProperties = isObject(json["properties"])
  if (json["type"] === "object" && hasProperties) return json
  return { ...json, type: "object", properties: hasProperties ? json["properties"] : {} }
}

/** Visits only subschemas. A default, const or example that looks like a schema is a plain value. */
function repairNode(node: JsonSchema): JsonSchema {
  const entries = mapEntries(node, repairKeyword)
  const { type, items } = node
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"))
  if (!isArray || (items ?? null) !== null) return entries
  return { ...entries, items: {} }
}

function repairKeyword(value: unknown, keyword: string): unknown {
  if (keyword === "$schema") return undefined
  if (keyword === "enum") return repairEnum(value)
  if (namedSchemas.has(keyword) && isObject(value)) return mapEntries(value, repairAny)
  if (manySchemas.has(keyword) && Array.isArray(value)) return mapList(value)
  return oneSchema.has(keyword) ? repairAny(value) : value
}

function repairEnum(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined
  const values = value.filter((one) => one !== undefined)
  if (values.length === 0) return undefined
  return values.length === value.length ? value : values
}

function repairAny(value: unknown): unknown {
  return isObject(value) ? repairNode(value) : value
}

function mapList(list: readonly unknown[]): readonly unknown[] {
  const result = list.filter((one) => one !== undefined).map(repairAny)
  return result.length === list.length && result.every((one, index) => one === list[index]) ? list : result
}

/** Leaves out what becomes undefined. Returns the same object when nothing changed. Safe for a property called `__proto__`. */
function mapEntries(node: JsonSchema, change: (value: unknown, key: string) => unknown): JsonSchema {
  let changed = false
  const entries: [string, unknown][] = []
  for (const [key, value] of Object.entries(node)) {
    const next = change(value, key)
    if (next !== value || value === undefined) changed = true
    if (next !== undefined) entries.push([key, next])
  }
  return changed ? Object.fromEntries(entries) : node
}
