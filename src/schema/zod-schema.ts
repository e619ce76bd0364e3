import { z } from "zod"
import {
  expectedType,
  manyUnknown,
  missingParameter,
  mostProblems,
  notOneOf,
  parameterProblem,
  pathText,
  typeName,
  unknownParameter,
  valueAtPath,
} from "./problems.ts"
import { confirmationParameters } from "../core/permission.ts"
import type { ValidationResult, JsonSchema, Schema } from "../core/schema.ts"
import type { UnknownProperties } from "./compile-schema.ts"

/** Validates with Zod. A model is told of every input without a catchall that it takes no other parameters. */
export function compileZodSchema(given: z.ZodType, unknown: UnknownProperties): Schema {
  const isOpen = unknown === "output" || !(given instanceof z.ZodObject) || given.def.catchall !== undefined
  const shown = isOpen ? given : given.strict()
  const schema = unknown === "drop" ? given : shown
  const isStrict = schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever
  const known = isStrict ? Object.keys(schema.shape) : undefined
  let json: JsonSchema | undefined
  return {
    get json() {
      json ??= toJsonSchema(shown, unknown)
      return json
    },
    check(value): ValidationResult {
      const tooMany = known && manyUnknown(value, known)
      if (tooMany !== undefined) return { ok: false, problems: tooMany }
      const wish = unknown === "drop" && !isOpen ? lostWish(value, Object.keys(given.shape)) : undefined
      if (wish !== undefined) return { ok: false, problems: [wish] }
      const parsed = schema.safeParse(value)
      if (parsed.success) return { ok: true, value: parsed.data }
      const issues = parsed.error.issues.slice(0, mostProblems)
      const problems = issues.flatMap((issue) => describe(issue, value, schema)).slice(0, mostProblems)
      return { ok: false, problems }
    },
  }
}

/** A wish to be confirmed must not be dropped unseen. */
function lostWish(value: unknown, known: readonly string[]): string | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const wished = (name: string) => Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] === true
  const name = confirmationParameters.find((one) => wished(one) && !known.includes(one))
  return name && unknownParameter([name], known)
}

function toJsonSchema(schema: z.ZodType, unknown: UnknownProperties): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: unknown === "output" ? "output" : "input",
    unrepresentable: "any",
  }) as JsonSchema
  return json
}

function describe(issue: z.core.$ZodIssue, value: unknown, schema: z.ZodType): string[] {
  const path = pathText(issue.path)
  const got = valueAtPath(value, issue.path)
  switch (issue.code) {
    case "invalid_type":
      if (got === undefined && issue.path.length > 0) return [missingParameter(path)]
      return [expectedType(path || "input", plainTypes[issue.expected] ?? issue.expected, typeName(got))]
    case "invalid_value":
      return [got === undefined ? missingParameter(path || "input") : notOneOf(path || "input", issue.values)]
    case "unrecognized_keys": {
      const known = issue.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined
      return issue.keys.slice(0, mostProblems).map((key) => unknownParameter([...issue.path, key], known))
    }
    case "invalid_union":
      if (got === undefined && issue.path.length > 0) return [missingParameter(path)]
      return [parameterProblem(path, "matches none of the forms it may have")]
    default:
      return [parameterProblem(path, lower(issue.message))]
  }
}

/** Zod's type names that differ from those of JSON Schema. */
const plainTypes: { readonly [expected: string]: string } = { int: "integer", record: "object", tuple: "array" }

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
