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
import type { ValidationResult, JsonSchema, Schema } from "../model/schema.ts"

/** Validates with Zod. A closed object without a catchall refuses unknown parameters. */
export function compileZodSchema(given: z.ZodType, closed: boolean): Schema {
  const schema = closed && given instanceof z.ZodObject && given.def.catchall === undefined ? given.strict() : given
  const isStrict = schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever
  const known = isStrict ? Object.keys(schema.shape) : undefined
  let json: JsonSchema | undefined
  return {
    get json() {
      json ??= toJsonSchema(schema, closed)
      return json
    },
    check(value): ValidationResult {
      const unknown = known && manyUnknown(value, known)
      if (unknown !== undefined) return { ok: false, problems: unknown }
      const parsed = schema.safeParse(value)
      if (parsed.success) return { ok: true, value: parsed.data }
      const issues = parsed.error.issues.slice(0, mostProblems)
      const problems = issues.flatMap((issue) => describe(issue, value, schema)).slice(0, mostProblems)
      return { ok: false, problems }
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
