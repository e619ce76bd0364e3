import type { Schema, SchemaSource } from "../../core/schema.ts"

export const dialects = ["native", "claude", "classic"] as const
export type Dialect = (typeof dialects)[number]

/** A tool under another name, with the parameters, results and error texts that a family of models expects. */
export interface AliasSpec<Given = never> {
  readonly name: string
  readonly dialect: Exclude<Dialect, "native">
  /** The tool it stands for. */
  readonly tool: string
  readonly description: string
  /** Makes its schema, when it is first needed. */
  readonly input: () => SchemaSource<Given>
  readonly output?: () => SchemaSource<unknown>
  /** Makes the tool's own input. */
  toInput(given: Given): unknown
  /** Makes the result that callers expect. `input` is the tool's own, or {} when it has been erased. */
  toResult?(result: unknown, input: unknown): unknown
  /** The alias's names for parameters that appear in sentences. Null for one that the alias does not have. */
  readonly names?: Readonly<Record<string, string | null>>
  /** Makes the error text that callers expect. Applies only to failures of the tool itself and to refused paths. Default: the tool's own text. */
  toError?(sentence: string, toolCode: string | undefined): string
}

/** An alias with compiled schemas. */
export interface Alias extends Omit<AliasSpec<unknown>, "input" | "output"> {
  readonly input: Schema
  readonly output?: Schema
}
