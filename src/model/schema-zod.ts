import { z } from "zod"
import {
  expectedType,
  missing,
  notOneOf,
  otherwise,
  pathText,
  typeName,
  unknownParameter,
  valueAt,
} from "./problems.ts"
import type { Checked, JsonSchema, Schema } from "./schema.ts"

/** Zod judges our own tools. A closed object without a catchall refuses unknown parameters. */
export function zodSchema(given: z.ZodType, closed: boolean): Schema {
  const schema = closed && given instanceof z.ZodObject && given.def.catchall === undefined ? given.strict() : given
  let json: JsonSchema | undefined
  return {
    get json() {
      json ??= toJsonSchema(schema, closed)
      return json
    },
    check(value): Checked {
      const parsed = schema.safeParse(value)
      if (parsed.success) return { ok: true, value: parsed.data }
      return { ok: false, problems: parsed.error.issues.flatMap((issue) => describe(issue, value, schema)) }
    },
  }
}

function toJsonSchema(schema: z.ZodType, closed: boolean): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: closed ? "input" : "output",
    unrepresentable: "any",
  }) as JsonSchema
  return json
}

function describe(issue: z.core.$ZodIssue, value: unknown, schema: z.ZodType): string[] {
  const path = pathText(issue.path)
  const got = valueAt(value, issue.path)
  switch (issue.code) {
    case "invalid_type":
      if (got === undefined && issue.path.length > 0) return [missing(path)]
      return [expectedType(path || "input", plainTypes[issue.expected] ?? issue.expected, typeName(got))]
    case "invalid_value":
      return [got === undefined ? missing(path || "input") : notOneOf(path || "input", issue.values)]
    case "unrecognized_keys": {
      const known = issue.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined
      return issue.keys.map((key) => unknownParameter([...issue.path, key], known))
    }
    case "invalid_union":
      if (got === undefined && issue.path.length > 0) return [missing(path)]
      return [otherwise(path, "matches none of the forms it may have")]
    default:
      return [otherwise(path, lower(issue.message))]
  }
}

/** What Zod calls otherwise than JSON does. */
const plainTypes: { readonly [expected: string]: string } = { int: "integer", record: "object", tuple: "array" }

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
