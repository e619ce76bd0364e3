import { isObject } from "../../../src/lib/is-object.ts"
/*
 * The JSON Schema as a form needs to know it. Parts without a field of their own are edited as JSON, and the server
 * validates: nothing here has to be complete.
 */

export type Schema = Readonly<Record<string, unknown>>

export type FieldKind = "text" | "number" | "boolean" | "choice" | "list" | "object" | "map" | "json" | "text or JSON"

const asSchema = (value: unknown): Schema => (isObject(value) ? value : {})

/** The field that edits a value of this schema. */
export function kindOf(schema: Schema): FieldKind {
  if (optionsOf(schema).length > 0) return "choice"
  switch (typeOf(schema)) {
    case "string":
      return "text"
    case "number":
    case "integer":
      return "number"
    case "boolean":
      return "boolean"
    case "array":
      return kindOf(itemsOf(schema)) === "json" ? "json" : "list"
    case "object":
      if (propertiesOf(schema).length > 0) return "object"
      return typeOf(asSchema(schema["additionalProperties"])) === "string" ? "map" : "json"
    default:
      return takesText(schema) ? "text or JSON" : "json"
  }
}

/** Reports whether a text is one of several things that it can be. */
function takesText(schema: Schema): boolean {
  const either = [schema["anyOf"], schema["oneOf"]].find(Array.isArray) ?? []
  return [schema["type"]].flat().includes("string") || either.some((one) => typeOf(asSchema(one)) === "string")
}

/** Its type. Of several, the one that is not null. */
export function typeOf(schema: Schema): string | undefined {
  const types = [schema["type"]].flat().filter((type) => type !== "null")
  return types.length === 1 && typeof types[0] === "string" ? types[0] : undefined
}

/** The values to choose from, also where they are written as `anyOf` of constants. */
export function optionsOf(schema: Schema): readonly (string | number)[] {
  const either = Array.isArray(schema["anyOf"]) ? schema["anyOf"].map((one) => asSchema(one)["const"]) : []
  const values: readonly unknown[] = Array.isArray(schema["enum"]) ? schema["enum"] : either
  const usable = values.filter((one) => typeof one === "string" || typeof one === "number")
  return usable.length === values.length ? usable : []
}

export const itemsOf = (schema: Schema): Schema => asSchema(schema["items"])

export interface Property {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
}

/** The properties of an object, those that are required first. */
export function propertiesOf(schema: Schema): readonly Property[] {
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : []
  const all = Object.entries(asSchema(schema["properties"])).map(([name, property]) => ({
    name,
    schema: asSchema(property),
    required: required.includes(name),
  }))
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)]
}

export const describedBy = (schema: Schema): string | undefined =>
  typeof schema["description"] === "string" && schema["description"] !== "" ? schema["description"] : undefined

/** "1 to 590000", "from 1", "to 10". Limits that only say "a safe integer" are left out. */
export function rangeOf(schema: Schema): { readonly from?: number; readonly to?: number } {
  const { minimum, maximum } = schema
  return {
    ...(typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER ? { from: minimum } : {}),
    ...(typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? { to: maximum } : {}),
  }
}

/** The path of a part, as the server's sentences write it: `a.b[0]`. */
export const pathOf = (parent: string, step: string | number): string =>
  typeof step === "number" ? `${parent}[${step}]` : parent === "" ? step : `${parent}.${step}`

/** An object without the names whose value is undefined. */
export const withValue = (object: unknown, name: string, value: unknown): Record<string, unknown> => {
  const { [name]: _before, ...rest } = isObject(object) ? object : {}
  return value === undefined ? rest : { ...rest, [name]: value }
}
