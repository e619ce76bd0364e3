import { formFields, describeField, type FormField } from "./form.ts"
import type { JsonSchema } from "../core/schema.ts"

/** The value that a person entered, or a sentence that says why it is not valid. */
export type FieldResult = { value: unknown } | { wrong: string }

export interface FormTextOptions {
  /** The separator between parts that are in one text. */
  separator?: string
  /** True if a choice may be given by its number. */
  numbered?: boolean
}

/** Reads a form from a person's text: a JSON object, `name=value` parts, or the text of its only field. */
export function readForm(form: JsonSchema, parts: readonly string[], reading: FormTextOptions = {}): FieldResult {
  const text = parts.join(reading.separator ?? " ")
  if (text.trim() === "") return { value: {} }
  const object = text.trimStart().startsWith("{") ? jsonOf(text) : undefined
  if (typeof object === "object") return { value: object }
  const fields = formFields(form)
  const [only, ...others] = fields
  const pairs = parts.map((part) => pairOf(part, fields))
  if (only !== undefined && others.length === 0 && pairs.some((pair) => pair?.name !== only.name)) {
    const read = readField(only, text, reading)
    return "wrong" in read ? read : { value: { [only.name]: read.value } }
  }
  const odd = parts.find((_, place) => pairs[place] === undefined)
  if (odd !== undefined) {
    return { wrong: `'${odd}' cannot be read. Give name=value for each field, or the whole form as one JSON object.` }
  }
  return readPairs(
    fields,
    pairs.filter((pair) => pair !== undefined),
    reading,
  )
}

/** Reads one field by its type: a choice by its value or title, several choices separated by commas. */
export function readField(field: FormField, text: string, reading: FormTextOptions = {}): FieldResult {
  const trimmed = text.trim()
  const wrong = { wrong: `'${field.name}' takes ${describeField(field)}, and '${text}' is not that.` }
  switch (field.kind) {
    case "text":
      return { value: text }
    case "number":
    case "integer": {
      const value = jsonOf(trimmed)
      const fits = typeof value === "number" && (field.kind === "number" || Number.isInteger(value))
      return fits ? { value } : wrong
    }
    case "boolean": {
      const value = yesOrNo.get(trimmed.toLowerCase())
      return value === undefined ? wrong : { value }
    }
    case "one":
      return chosen(field, trimmed, reading)
    case "several":
      return severalOf(field, trimmed, reading)
    case "other": {
      const value = jsonOf(trimmed)
      if (value !== undefined) return { value }
      const { type } = field.schema
      return type === undefined || (Array.isArray(type) && type.includes("string")) ? { value: text } : wrong
    }
  }
}

const yesOrNo = new Map([
  ...["true", "yes", "y"].map((word) => [word, true] as const),
  ...["false", "no", "n"].map((word) => [word, false] as const),
])

interface Pair {
  name: string
  text: string
  isJson: boolean
}

/** `name=value`, or `name:=json`. A field's name may itself contain an equals sign. */
function pairOf(part: string, fields: readonly FormField[]): Pair | undefined {
  const called = fields.find(({ name }) => part.startsWith(`${name}=`) || part.startsWith(`${name}:=`))
  const at = part.indexOf("=", called?.name.length ?? 0)
  const isJson = called === undefined ? part[at - 1] === ":" : at > called.name.length
  const name = called?.name ?? part.slice(0, isJson ? at - 1 : Math.max(at, 0))
  return name === "" ? undefined : { name, text: part.slice(at + 1), isJson }
}

/** A name that is given several times means several choices. */
function readPairs(fields: readonly FormField[], pairs: readonly Pair[], reading: FormTextOptions): FieldResult {
  const filled = new Map<string, unknown>()
  for (const { name, text, isJson } of pairs) {
    const field = fields.find((one) => one.name === name)
    if (field === undefined) return { wrong: unknownField(name, fields) }
    const read = isJson ? readJson(name, text) : readField(field, text, reading)
    if ("wrong" in read) return read
    const before = filled.get(name)
    if (!filled.has(name)) filled.set(name, read.value)
    else if (Array.isArray(before) && Array.isArray(read.value))
      filled.set(name, [...new Set([...before, ...read.value])])
    else return { wrong: `'${name}' is given twice. Keep one of them.` }
  }
  // fromEntries is safe for the name __proto__.
  return { value: Object.fromEntries(filled) }
}

function readJson(name: string, text: string): FieldResult {
  const value = jsonOf(text)
  return value === undefined ? { wrong: `The value of '${name}' is not JSON: '${text}'.` } : { value }
}

/**
 * By the value first, because a title may equal another choice's value. A title that two choices share is ambiguous.
 */
function chosen(field: FormField, text: string, { numbered = false }: FormTextOptions): FieldResult {
  const same = field.choices.find(({ value }) => String(value) === text)
  if (same !== undefined) return { value: same.value }
  const called = field.choices.filter(({ title }) => title === text)
  if (called.length === 1) return { value: called[0]!.value }
  const counted = numbered && /^[1-9]\d*$/.test(text) ? field.choices[Number(text) - 1] : undefined
  if (counted !== undefined) return { value: counted.value }
  const known = field.choices.slice(0, 20).map(({ value }) => String(value))
  const more = field.choices.length > known.length ? ", …" : ""
  return { wrong: `'${text}' is not a choice of '${field.name}': ${known.join(", ")}${more}.` }
}

function severalOf(field: FormField, text: string, reading: FormTextOptions): FieldResult {
  if (text === "") return { value: [] }
  const whole = chosen(field, text, reading)
  if ("value" in whole) return { value: [whole.value] }
  const parts = text.split(",").map((part) => part.trim())
  const read = parts.filter((part) => part !== "").map((part) => chosen(field, part, reading))
  const wrong = read.find((one) => "wrong" in one)
  return wrong ?? { value: [...new Set(read.flatMap((one) => ("value" in one ? [one.value] : [])))] }
}

function unknownField(name: string, fields: readonly FormField[]): string {
  const known = fields.map((field) => field.name).slice(0, 20)
  return `The form has no field '${name}'.${known.length === 0 ? "" : ` It has: ${known.join(", ")}.`}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
