import { isObject } from "../../../lib/is-object.ts"
import { typeName } from "../../../schema/problems.ts"
import type { JsonSchema } from "../../../core/schema.ts"

/** The schemas that apply to one place of an input. Empty if the schema says nothing about it. */
export type Shape = readonly JsonSchema[]

/** Reads a JSON Schema only far enough to tell text from JSON. Validation is done by the call. */
export function shapeOf(schema: JsonSchema | undefined): {
  whole: Shape
  at(shape: Shape, name: string): Shape
  items(shape: Shape): Shape
} {
  const flat = (parts: readonly unknown[]) => {
    const forms = new Set<JsonSchema>()
    parts.forEach((part) => collect(part, schema ?? {}, forms))
    return [...forms]
  }
  return {
    whole: flat([schema]),
    at: (shape, name) => flat(shape.map((form) => property(form, name))),
    items: (shape) => flat(shape.map((form) => form["items"])),
  }
}

/** Reports whether the schema has a property of exactly this name. */
export function hasProperty(shape: Shape, name: string): boolean {
  return shape.some((form) => isObject(form["properties"]) && Object.hasOwn(form["properties"], name))
}

/** The JSON types allowed here; an empty set means any. */
export function jsonTypesOf(shape: Shape): Set<string> {
  const kinds = new Set<string>()
  for (const form of shape) {
    const { type, enum: values, const: only } = form
    if (typeof type === "string") kinds.add(type)
    else if (Array.isArray(type)) type.forEach((each) => kinds.add(String(each)))
    else if (Array.isArray(values)) values.forEach((value) => kinds.add(typeName(value)))
    else if (only !== undefined) kinds.add(typeName(only))
  }
  return kinds
}

/** Collects a schema and those behind $ref, anyOf, oneOf and allOf, each once. */
function collect(part: unknown, root: JsonSchema, into: Set<JsonSchema>): void {
  if (!isObject(part) || into.has(part)) return
  into.add(part)
  if (typeof part["$ref"] === "string") collect(pointed(root, part["$ref"]), root, into)
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const choices = part[word]
    if (Array.isArray(choices)) choices.forEach((choice) => collect(choice, root, into))
  }
}

function property(form: JsonSchema, name: string): unknown {
  const { properties, additionalProperties } = form
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name]
  return additionalProperties === true || saysNothing(form) ? {} : additionalProperties
}

/** A schema without constraints allows anything inside it too. */
function saysNothing(form: JsonSchema): boolean {
  return !["type", "properties", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"].some((word) => word in form)
}

function pointed(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined
  const steps = reference.split("/").slice(1)
  return steps.reduce<unknown>((here, step) => {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
    return (isObject(here) || Array.isArray(here)) && Object.hasOwn(here, name) ? (here as JsonSchema)[name] : undefined
  }, root)
}
