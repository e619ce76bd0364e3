import type { z } from "zod"

/** A JSON Schema, 2020-12 or draft-07. */
export type JsonSchema = { readonly [key: string]: unknown }

/**
 * The ways to state an input or output: Zod, JSON Schema, a list of parameters, or a compiled schema. `Given` is what is sent,
 * `T` what comes of it: with Zod's defaults, fields may be left out.
 */
export type SchemaSource<T, Given = unknown> =
  | z.core.$ZodType<T, Given>
  | JsonSchema
  | readonly ToolParameter[]
  | Schema

export type ValidationResult = { ok: true; value: unknown } | { ok: false; problems: string[] }

/** A compiled schema: what the model is shown, and the check of what it sends. */
export interface Schema {
  /** The schema that models are shown. A JSON Schema is passed on unchanged. */
  readonly json: JsonSchema
  /** Reports every problem at once, or returns the value with defaults filled in. Converts nothing. */
  check(value: unknown): ValidationResult
}

/**
 * One parameter of a tool, for tools that list their parameters in place of a schema.
 *
 * ```ts
 * { name: "path", type: "string", description: "The file to read", required: true }
 * ```
 */
export interface ToolParameter {
  name: string
  type: "string" | "number" | "boolean" | "object" | "array"
  description: string
  required: boolean
  enum?: readonly unknown[]
  default?: unknown
  /** The schema of an array's items. Default: anything. */
  items?: JsonSchema
}

/** The places of secrets in a schema: paths of property names, with `*` for any name or index. */
export type SecretPaths = readonly (readonly string[])[]
