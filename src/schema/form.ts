import { errorMessage } from "../lib/error-message.ts"
import { type ValidationResult, type JsonSchema } from "../core/schema.ts"
import { compileSchema } from "./compile-schema.ts"

/** One field of a form, as a person is asked for it. */
export interface FormField {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** *one* and *several* are chosen from `choices`; *other* is any JSON that the schema accepts. */
  readonly kind: "text" | "number" | "integer" | "boolean" | "one" | "several" | "other"
  readonly choices: readonly FormChoice[]
  readonly required: boolean
  /** Sent when the person enters nothing. */
  readonly defaultValue?: unknown
  /** The format of a text, such as email or date. */
  readonly format?: string
  readonly schema: JsonSchema
}

export interface FormChoice {
  readonly value: unknown
  /** The text that a person reads, when that is not the value itself. */
  readonly title?: string
}

/** The fields of a form, in its order. A malformed form has none. */
export function formFields(form: JsonSchema): FormField[] {
  const required = listOf(form["required"])
  return Object.entries(objectOf(form["properties"])).map(([name, given]) => {
    const schema = objectOf(given)
    const { title, description, format, default: fallback } = schema
    return {
      name,
      ...kindOf(schema),
      schema,
      required: required.includes(name),
      ...(typeof title === "string" && title !== "" && title !== name && { title }),
      ...(typeof description === "string" && description !== "" && { description }),
      ...(typeof format === "string" && { format }),
      ...(fallback !== undefined && { defaultValue: fallback }),
    }
  })
}

/** Validates what was entered and fills in the defaults. An invalid form is reported as a problem, not thrown. */
export function checkForm(form: JsonSchema, value: unknown): ValidationResult {
  try {
    return compileSchema({ properties: {}, additionalProperties: false, ...form } as never, "refuse").check(value)
  } catch (error) {
    return { ok: false, problems: [errorMessage(error)] }
  }
}

/** Describes the problem of one field's value, in a sentence. */
export function fieldProblem({ name, schema }: FormField, value: unknown): string | undefined {
  const checked = checkForm({ type: "object", properties: { [name]: schema } }, { [name]: value })
  return checked.ok ? undefined : `${checked.problems.join(", ")}.`
}

/** Describes the values a field takes, in words. */
export function describeField({ kind, format, schema }: FormField): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema
  switch (kind) {
    case "text":
      return (formats.get(format ?? "") ?? "text") + limits(minLength, maxLength, " characters")
    case "number":
      return `a number${limits(minimum, maximum)}`
    case "integer":
      return `a whole number${limits(minimum, maximum)}`
    case "boolean":
      return "yes or no"
    case "one":
      return "one of the choices"
    case "several":
      return `some of the choices${limits(minItems, maxItems)}`
    case "other":
      return "JSON"
  }
}

const formats = new Map([
  ["email", "an e-mail address"],
  ["uri", "a web address"],
  ["date", "a date such as 2026-01-31"],
  ["date-time", "a date and time such as 2026-01-31T12:00:00Z"],
])

function limits(low: unknown, high: unknown, unit = ""): string {
  if (typeof low === "number" && typeof high === "number") return `, from ${low} to ${high}${unit}`
  if (typeof low === "number") return `, at least ${low}${unit}`
  return typeof high === "number" ? `, at most ${high}${unit}` : ""
}

function kindOf(schema: JsonSchema): Pick<FormField, "kind" | "choices"> {
  const { type, items } = schema
  const choices = choicesOf(schema)
  if (choices.length > 0) return { kind: "one", choices }
  const several = type === "array" ? choicesOf(objectOf(items)) : []
  if (several.length > 0) return { kind: "several", choices: several }
  if (type === "string") return { kind: "text", choices }
  return { kind: type === "number" || type === "integer" || type === "boolean" ? type : "other", choices }
}

/** `enum`, with or without `enumNames`, or constants with titles. */
function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonSchema): FormChoice[] {
  if (Array.isArray(values)) {
    const titles = listOf(enumNames)
    return values.map((value: unknown, place) => choice(value, titles[place]))
  }
  const constants = listOf(oneOf ?? anyOf).map(objectOf)
  if (!constants.every((one) => "const" in one)) return []
  return constants.map(({ const: value, title }) => choice(value, title))
}

function choice(value: unknown, title: unknown): FormChoice {
  return typeof title === "string" && title !== "" && title !== value ? { value, title } : { value }
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}
