import type { JsonSchema } from "../../core/schema.ts"
import { expandReferences, referencesIn } from "./references.ts"

/** An input in which each reference is replaced by some value of the type that the tool takes there. */
export function standIn(input: unknown, schema: JsonSchema | undefined, variant: "one" | "other"): unknown {
  const paths = referencesIn(input, []).references.map(({ path }) => path)
  let next = 0
  const expanded = expandReferences(input, () => ({ value: someValue(schemaAt(schema, paths[next++] ?? []), variant) }))
  return "value" in expanded ? expanded.value : {}
}

function schemaAt(schema: JsonSchema | undefined, path: readonly (string | number)[]): JsonSchema | undefined {
  let node = schema
  for (const step of path) {
    const { properties, items } = (node ?? {}) as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
    node = typeof step === "number" ? items : properties?.[step]
  }
  return node
}

function someValue(schema: JsonSchema | undefined, variant: "one" | "other"): unknown {
  const { type, enum: values, minimum = 1 } = (schema ?? {}) as { type?: unknown; enum?: unknown[]; minimum?: number }
  if (Array.isArray(values)) return values[variant === "one" ? 0 : values.length - 1]
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case "number":
    case "integer":
      return variant === "one" ? minimum : minimum + 1
    case "boolean":
      return variant === "one"
    case "array":
      return []
    case "object":
      return {}
    default:
      return variant === "one" ? "something" : "anything"
  }
}
