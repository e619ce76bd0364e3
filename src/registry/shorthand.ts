import type { JsonSchema } from "../core/schema.ts"

/** S2's way to write a schema: `{ file_path: "string", limit: "number?", kind: "'a' | 'b'", matches: [{ … }] }`. */
export type Shorthand = { readonly [name: string]: ShorthandForm }

/** `string`, `number`, `boolean`, `object`, `any`, each with `[]` for a list; or quoted words with `|`. A `?` at the end: optional. */
type ShorthandForm = string | readonly ShorthandForm[] | Shorthand

/** `closed`: properties that are not named are refused, at every depth. Throws a sentence for an unknown notation. */
export function shorthandToJsonSchema(shorthand: Shorthand, closed: boolean): JsonSchema {
  return objectSchema(shorthand, "", closed)
}

const kinds = new Map<string, JsonSchema>([
  ["string", { type: "string" }],
  ["number", { type: "number" }],
  ["boolean", { type: "boolean" }],
  ["object", { type: "object" }],
  ["any", {}],
])
const choice = /^'[^']*'(?:\s*\|\s*'[^']*')*$/

function objectSchema(shorthand: Shorthand, path: string, closed: boolean): JsonSchema {
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  for (const [name, form] of Object.entries(shorthand)) {
    const optional = typeof form === "string" && form.trimEnd().endsWith("?")
    const needed = optional ? form.trimEnd().slice(0, -1) : form
    properties.push([name, formSchema(needed, path === "" ? name : `${path}.${name}`, closed)])
    if (!optional) required.push(name)
  }
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required,
    ...(closed ? { additionalProperties: false } : {}),
  }
}

function formSchema(form: unknown, path: string, closed: boolean): JsonSchema {
  if (typeof form === "string") return wordSchema(form.trim(), path)
  if (Array.isArray(form)) {
    if (form.length !== 1) throw unknownForm(path, "a list must hold exactly one form, that of its elements")
    return { type: "array", items: formSchema(form[0], `${path}[]`, closed) }
  }
  if (typeof form === "object" && form !== null) return objectSchema(form as Shorthand, path, closed)
  throw unknownForm(path, `${String(form)} is no form`)
}

function wordSchema(word: string, path: string): JsonSchema {
  if (choice.test(word)) {
    const words = Array.from(word.matchAll(/'([^']*)'/g), ([, quoted]) => quoted)
    return { type: "string", enum: [...new Set(words)] }
  }
  const [, kind = "", lists = ""] = /^(\w+)((?:\[\])*)$/.exec(word) ?? []
  let schema = kinds.get(kind)
  if (schema === undefined) throw unknownForm(path, `'${word}' is no form`)
  for (let depth = lists.length / 2; depth > 0; depth--) schema = { type: "array", items: schema }
  return schema
}

function unknownForm(path: string, problem: string): TypeError {
  return new TypeError(
    `The shorthand of '${path}' cannot be read: ${problem}. Write string, number, boolean, object or any, with [] for a ` +
      "list, quoted words with | for a choice, ? at the end for what may be left out; or write JSON Schema.",
  )
}
