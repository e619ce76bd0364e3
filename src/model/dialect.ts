import type { Names } from "./renamed.ts"
import type { Schema, SchemaSource } from "./schema.ts"

export const dialects = ["native", "claude", "classic"] as const
export type Dialect = (typeof dialects)[number]

/** Another name of a tool, with the parameters, results and error texts that a family of models is used to. */
export interface AliasSpec<Given = never> {
  readonly name: string
  readonly dialect: Exclude<Dialect, "native">
  /** The tool it means. */
  readonly tool: string
  readonly description: string
  readonly input: SchemaSource<Given>
  readonly output?: SchemaSource<unknown> | undefined
  /** The tool's own input. */
  toInput(given: Given): unknown
  /** What its callers expect, made of the tool's own result; `input` is the tool's own, {} when it is kept no more. */
  toResult?(result: unknown, input: unknown): unknown
  /** What its callers call what the tool's sentences speak of: parameters, and advice they cannot follow. */
  readonly names?: Names | undefined
  /** What is said of it in sentences of every tool, where its name alone would mislead. */
  readonly saidOfIt?: Names | undefined
  /** The error text its callers expect; left out, the tool's own. Only for what the tool itself says. */
  toError?(sentence: string, toolCode: string | undefined): string
}

/** An alias as the walk uses it. */
export interface Alias extends Omit<AliasSpec<unknown>, "input" | "output"> {
  readonly input: Schema
  readonly output?: Schema | undefined
}
