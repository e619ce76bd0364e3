/*
 * A form for a JSON Schema, as tools have them. What has no field of its own is edited as JSON, and the server
 * validates: nothing here has to be complete.
 */

export type Schema = Readonly<Record<string, unknown>>

export interface Field {
  readonly name: string
  readonly label: string
  readonly description: string | undefined
  readonly required: boolean
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "lines" | "json"
  readonly options: readonly (string | number)[]
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)

/** The fields of a schema for an object. Undefined where there is no such schema: then all is JSON. */
export function fieldsOf(schema: Schema | undefined): readonly Field[] | undefined {
  const properties = schema?.["properties"]
  if (!isObject(properties)) return undefined
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : []
  return Object.entries(properties).map(([name, property]) => {
    const each = isObject(property) ? property : {}
    const options = Array.isArray(each["enum"])
      ? each["enum"].filter((one) => typeof one === "string" || typeof one === "number")
      : []
    return {
      name,
      label: text(each["title"]) ?? name,
      description: text(each["description"]),
      required: required.includes(name),
      kind: kindOf(each, options.length > 0),
      options,
    }
  })
}

function kindOf(schema: Schema, hasOptions: boolean): Field["kind"] {
  if (hasOptions) return "choice"
  const type = schema["type"]
  if (type === "string") return "text"
  if (type === "number" || type === "integer" || type === "boolean") return type
  if (type === "array" && isObject(schema["items"]) && schema["items"]["type"] === "string") return "lines"
  return "json"
}

/** What is in a field: text, or yes and no. Undefined is a field that is left out. */
export type Raw = string | boolean | undefined

/** A value as its field shows it. */
export function toRaw(field: Field, value: unknown): Raw {
  if (value === undefined) return undefined
  if (field.kind === "boolean") return value === true
  if (field.kind === "lines" && Array.isArray(value)) return value.join("\n")
  if (field.kind === "json" || typeof value === "object") return JSON.stringify(value, null, 2)
  return String(value)
}

/** The value of a field, or why it has none. A field left empty is left out, never null. */
export function fromRaw(field: Field, raw: Raw): { value: unknown } | { wrong: "json" | "number" } {
  if (raw === undefined || (raw === "" && !(field.kind === "text" && field.required))) return { value: undefined }
  if (typeof raw === "boolean") return { value: raw }
  switch (field.kind) {
    case "number":
    case "integer":
      return Number.isFinite(Number(raw)) ? { value: Number(raw) } : { wrong: "number" }
    case "choice":
      return { value: field.options.find((option) => String(option) === raw) ?? raw }
    case "lines":
      return { value: raw.split("\n").filter((line) => line !== "") }
    case "json":
      try {
        return { value: JSON.parse(raw) as unknown }
      } catch {
        return { wrong: "json" }
      }
    case "text":
    case "boolean":
      return { value: raw }
  }
}

/** Puts the fields into an input. What the form has no field for stays as it was. */
export function readForm(
  fields: readonly Field[],
  raw: Readonly<Record<string, Raw>>,
  before: Schema,
): { input: Record<string, unknown> } | { wrong: Readonly<Record<string, "json" | "number">> } {
  const input: Record<string, unknown> = { ...before }
  const wrong: Record<string, "json" | "number"> = {}
  for (const field of fields) {
    const read = fromRaw(field, raw[field.name])
    if ("wrong" in read) wrong[field.name] = read.wrong
    else if (read.value === undefined) delete input[field.name]
    else input[field.name] = read.value
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { input }
}
