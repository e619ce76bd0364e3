import type { McpToolDefinition, McpToolValue } from "../../model/mcp.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { type ValidationResult, type JsonSchema, type Schema } from "../../model/schema.ts"
import { compileSchema } from "../../schema/compile-schema.ts"

/**
 * The input schema of a server's tool: unchanged for the model, and checked here. Unnamed parameters are accepted only
 * if the schema allows additional ones. It is compiled at first use, because few of a server's tools are called.
 */
export function inputSchema(json: JsonSchema): Schema {
  return { json, check: (value) => checkWith(json, true, value) }
}

/** The output schema of a server's tool: checks `structuredContent` and returns the value unchanged. */
export function outputSchema(json: JsonSchema): Schema {
  return {
    json,
    check(value) {
      const { structuredContent } = value as McpToolValue
      if (structuredContent === undefined)
        return { ok: false, problems: ["Missing required parameter: structuredContent"] }
      const checked = checkWith(json, false, structuredContent)
      return checked.ok ? { ok: true, value } : checked
    },
  }
}

/** Why a tool cannot be used: one of its schemas does not compile. */
export function schemaProblem({ inputSchema: input, outputSchema: output }: McpToolDefinition): string | undefined {
  for (const [name, json, closed] of [
    ["input", input, true],
    ["output", output, false],
  ] as const) {
    if (json === undefined) continue
    try {
      compileSchema(json as never, closed)
    } catch (error) {
      return `Its ${name} schema cannot be used, so it is left out: ${errorMessage(error)}`
    }
  }
  return undefined
}

const compiledSchemas = new WeakMap<JsonSchema, { open?: Schema; closed?: Schema }>()

function compiled(json: JsonSchema, closed: boolean): Schema {
  const cached = compiledSchemas.get(json) ?? {}
  compiledSchemas.set(json, cached)
  return (cached[closed ? "closed" : "open"] ??= compileSchema(json as never, closed))
}

/** A schema that no longer compiles, although it did when it was pinned, refuses everything. */
function checkWith(json: JsonSchema, closed: boolean, value: unknown): ValidationResult {
  try {
    return compiled(json, closed).check(value)
  } catch (error) {
    return { ok: false, problems: [`the schema of the server cannot be used: ${errorMessage(error)}`] }
  }
}
