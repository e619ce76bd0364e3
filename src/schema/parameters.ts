import { typeName, unknownParameter, expectedType, missingParameter, notOneOf } from "./problems.ts"
import type { ValidationResult, JsonSchema, ToolParameter } from "../core/schema.ts"

/** Validates against a parameter list and fills in the defaults. */
export function checkParameters(parameters: readonly ToolParameter[], args: unknown): ValidationResult {
  if (typeName(args) !== "object") return { ok: false, problems: [expectedType("input", "object", typeName(args))] }
  const given = args as Record<string, unknown>
  const value: Record<string, unknown> = {}
  const problems: string[] = []

  for (const parameter of parameters) {
    const present = Object.hasOwn(given, parameter.name) && given[parameter.name] !== undefined
    if (!present) {
      if (parameter.default !== undefined) value[parameter.name] = structuredClone(parameter.default)
      else if (parameter.required) problems.push(missingParameter(parameter.name))
      continue
    }
    const actual = given[parameter.name]
    value[parameter.name] = actual
    if (typeName(actual) !== parameter.type) {
      problems.push(expectedType(parameter.name, parameter.type, typeName(actual)))
    } else if (parameter.enum !== undefined && !parameter.enum.includes(actual)) {
      problems.push(notOneOf(parameter.name, parameter.enum))
    }
  }

  const names = parameters.map((parameter) => parameter.name)
  for (const name of Object.keys(given)) if (!names.includes(name)) problems.push(unknownParameter([name], names))
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

/** The same as a JSON Schema that model providers accept: no undefined values, and arrays have `items`. */
export function parametersToJsonSchema(parameters: readonly ToolParameter[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  for (const parameter of parameters) {
    properties[parameter.name] = {
      type: parameter.type,
      description: parameter.description,
      ...(parameter.type === "array" ? { items: parameter.items ?? {} } : {}),
      ...(parameter.enum === undefined ? {} : { enum: parameter.enum }),
      ...(parameter.default === undefined ? {} : { default: parameter.default }),
    }
  }
  const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name)
  return { type: "object", properties, required, additionalProperties: false }
}
