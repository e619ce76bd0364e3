import { z } from "zod"
import { configSchema } from "./schema.ts"

export type Path = readonly (string | number)[]

/** The schema of the value at `path`, without optional and nullable; undefined for an unknown key. */
export function schemaAt(path: Path): unknown {
  let here: unknown = configSchema
  for (const step of path) here = bare(child(here, step))
  return here
}

/** The keys of the section at `path`; none for a record, whose keys are free. */
export function keysAt(path: Path): string[] {
  const schema = schemaAt(path)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** The keys that can stand at `path`, also in one of several forms that its value may have. */
export function keysInAnyForm(path: Path): string[] {
  const schema = schemaAt(path)
  const forms = schema instanceof z.ZodUnion ? schema.options : [schema]
  return forms.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : []))
}

/** The description of the key at `path`. */
export function explanationOf(path: readonly string[]): string {
  const schema = child(schemaAt(path.slice(0, -1)), path.at(-1) ?? "")
  return (schema instanceof z.ZodType && schema.description) || ""
}

/** Reports whether the value at `path` is text, even if it looks like a number. */
export function wantsText(path: Path): boolean {
  const schema = schemaAt(path)
  return schema instanceof z.ZodString || schema instanceof z.ZodEnum
}

/** Every key with a fixed name, sections first. */
export function allKeys(path: readonly string[] = []): string[][] {
  return keysAt(path).flatMap((key) => [[...path, key], ...allKeys([...path, key])])
}

export function isSection(schema: unknown): boolean {
  if (schema instanceof z.ZodUnion) return schema.options.some(isSection)
  return schema instanceof z.ZodObject || schema instanceof z.ZodRecord
}

/** Reports whether the keys of the section at `path` are free, such as tool names. */
export function hasFreeKeys(path: Path): boolean {
  const schema = schemaAt(path)
  return (schema instanceof z.ZodUnion ? schema.options : [schema]).some(
    (option) => option instanceof z.ZodRecord || (option instanceof z.ZodObject && isSection(option.def.catchall)),
  )
}

function child(schema: unknown, step: string | number): unknown {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, step) ? schema.shape[step] : schema.def.catchall
  if (schema instanceof z.ZodRecord) return typeof step === "string" ? schema.valueType : undefined
  // Of a union, the member that has such a key.
  if (schema instanceof z.ZodUnion) return schema.options.map((one) => child(one, step)).find((one) => one)
  return schema instanceof z.ZodArray && typeof step === "number" ? schema.element : undefined
}

function bare(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema
}
