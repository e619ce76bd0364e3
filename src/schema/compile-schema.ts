import type { z } from "zod"
import type { JsonSchema, Schema, SchemaSource, ToolParameter } from "../core/schema.ts"
import { checkParameters, parametersToJsonSchema } from "./parameters.ts"
import { compileJsonSchema } from "./json-schema.ts"
import { compileZodSchema } from "./zod-schema.ts"

/**
 * The treatment of properties that a Zod object does not name: an input of our tools refuses them (`refuse`), one of
 * anybody else's tools drops them (`drop`), and so does an output. A JSON Schema is used as it is written.
 */
export type UnknownProperties = "refuse" | "drop" | "output"

export function compileSchema(source: SchemaSource<never>, unknown: UnknownProperties): Schema {
  if (Array.isArray(source)) return parameterSchema(source as readonly ToolParameter[])
  if (typeof source !== "object" || source === null) throw new TypeError(notASchema)
  if ("_zod" in source) return compileZodSchema(source as z.core.$ZodType as z.ZodType, unknown)
  if (isZod3(source)) throw new TypeError(zod3)
  if ("json" in source && typeof (source as Schema).check === "function") return source as Schema
  if (Object.getPrototypeOf(source) !== Object.prototype && Object.getPrototypeOf(source) !== null) {
    throw new TypeError(notASchema)
  }
  return compileJsonSchema(source as JsonSchema)
}

const notASchema = "A schema must be a Zod 4 schema, a JSON Schema object or a list of parameters; give one of these."

const zod3 =
  'This is a schema of Zod 3, which cannot be shown to a model. Install Zod 4 (npm install zod@4), write the schema with import { z } from "zod" and not from "zod/v3", or give a JSON Schema.'

function isZod3(source: object): boolean {
  return "_def" in source && !("_zod" in source) && typeof (source as { safeParse?: unknown }).safeParse === "function"
}

function parameterSchema(parameters: readonly ToolParameter[]): Schema {
  return { json: parametersToJsonSchema(parameters), check: (value) => checkParameters(parameters, value) }
}
