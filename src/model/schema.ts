import type { z } from "zod"
import { checkParameters, parametersToJsonSchema, type ToolParameter } from "./parameters.ts"
import { jsonSchemaSchema } from "./schema-json.ts"
import { zodSchema } from "./schema-zod.ts"

export type JsonSchema = { readonly [key: string]: unknown }

/**
 * How a tool may state what it takes and gives: Zod, JSON Schema (2020-12 or draft-07), S3's parameter list, or a
 * schema that is ready for use.
 */
export type SchemaSource<T> = z.ZodType<T> | JsonSchema | readonly ToolParameter[] | Schema

export type Checked = { ok: true; value: unknown } | { ok: false; problems: string[] }

/** A schema ready for use: what the model is shown, and the judge of what it sends back. */
export interface Schema {
  /** What a model is shown. Foreign schemas are passed on unchanged. */
  readonly json: JsonSchema
  /** Finds every problem at once; on success returns the value with its defaults. Coerces nothing. */
  check(value: unknown): Checked
}

/** `closed`: an object refuses what it does not name. Inputs are closed; from an output the rest is dropped. */
export function compileSchema(source: SchemaSource<never>, closed: boolean): Schema {
  if (Array.isArray(source)) return parameterSchema(source as readonly ToolParameter[])
  if (typeof source !== "object" || source === null) throw new TypeError(neither)
  if ("_zod" in source) return zodSchema(source as z.ZodType, closed)
  if ("json" in source && typeof (source as Schema).check === "function") return source as Schema
  if (Object.getPrototypeOf(source) !== Object.prototype && Object.getPrototypeOf(source) !== null) {
    throw new TypeError(neither)
  }
  return jsonSchemaSchema(source as JsonSchema, closed)
}

const neither = "A schema must be a Zod 4 schema, a JSON Schema object or a list of parameters; give one of these."

function parameterSchema(parameters: readonly ToolParameter[]): Schema {
  return { json: parametersToJsonSchema(parameters), check: (value) => checkParameters(parameters, value) }
}
