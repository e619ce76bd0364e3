import { typeName, unknownParameter, expectedType, missing, notOneOf } from "./problems.ts"
import type { Checked, JsonSchema } from "./schema.ts"

/** One parameter in the words of design S3. */
export interface ToolParameter {
  name: string
  type: "string" | "number" | "boolean" | "object" | "array"
  description: string
  required: boolean
  enum?: readonly unknown[]
  default?: unknown
  /** What an array holds; anything when left out. */
  items?: JsonSchema
}

/** S3's validation with its own sentences; declared defaults take effect. */
export function checkParameters(parameters: readonly ToolParameter[], args: unknown): Checked {
  if (typeName(args) !== "object") return { ok: false, problems: [expectedType("input", "object", typeName(args))] }
  const given = args as Record<string, unknown>
  const value: Record<string, unknown> = {}
  const problems: string[] = []

  for (const parameter of parameters) {
    const present = Object.hasOwn(given, parameter.name) && given[parameter.name] !== undefined
    if (!present) {
      if (parameter.default !== undefined) value[parameter.name] = structuredClone(parameter.default)
      else if (parameter.required) problems.push(missing(parameter.name))
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

/** The object schema a provider accepts: no undefined enum, defaults kept, arrays with items. */
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
