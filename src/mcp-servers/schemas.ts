import type { McpToolDefinition, McpToolValue } from "../core/mcp.ts"
import { errorMessage } from "../lib/error-message.ts"
import { type ValidationResult, type JsonSchema, type Schema } from "../core/schema.ts"
import { compileJsonSchema } from "../schema/json-schema.ts"

/**
 * The input schema of a server's tool: unchanged for the model, and checked here as it is written. It is compiled at first use, because few of a server's tools are called.
 */
export function inputSchema(json: JsonSchema): Schema {
  return { json, check: (value) => checkWith(json, value) }
}

/** The output schema of a server's tool: checks `structuredContent` and returns the value unchanged. */
export function outputSchema(json: JsonSchema): Schema {
  return {
    json,
    check(value) {
      const { structuredContent } = value as McpToolValue
      if (structuredContent === undefined)
        return { ok: false, problems: ["Missing required parameter: structuredContent"] }
      const checked = checkWith(json, structuredContent)
      return checked.ok ? { ok: true, value } : checked
    },
  }
}

/** Why a tool cannot be used: one of its schemas does not compile. */
export function schemaProblem({ inputSchema: input, outputSchema: output }: McpToolDefinition): string | undefined {
  for (const [name, json] of [
    ["input", input],
    ["output", output],
  ] as const) {
    if (json === undefined) continue
    try {
      compileJsonSchema(json)
    } catch (error) {
      return `Its ${name} schema cannot be used, so it is left out: ${errorMessage(error)}`
    }
  }
  return undefined
}

const compiledSchemas = new WeakMap<JsonSchema, Schema>()

function compiled(json: JsonSchema): Schema {
  const known = compiledSchemas.get(json) ?? compileJsonSchema(json)
  compiledSchemas.set(json, known)
  return known
}

/** A schema that no longer compiles, although it did when it was pinned, refuses everything. */
function checkWith(json: JsonSchema, value: unknown): ValidationResult {
  try {
    return compiled(json).check(value)
  } catch (error) {
    return { ok: false, problems: [`the schema of the server cannot be used: ${errorMessage(error)}`] }
  }
}
