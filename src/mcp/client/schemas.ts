import type { McpToolDefinition, McpToolValue } from "../../model/mcp.ts"
import { messageOf } from "../../model/message.ts"
import { compileSchema, type Checked, type JsonSchema, type Schema } from "../../model/schema.ts"

/**
 * What a server's tool takes: its schema unchanged for the model, and judged here. A parameter the schema does not name
 * is the server's business only where the schema says that there may be others. It is compiled when it is first used,
 * because a server has many tools and few are called.
 */
export function inputSchema(json: JsonSchema): Schema {
  return { json, check: (value) => judged(json, true, value) }
}

/** What it promises to give back: its `structuredContent` must keep the promise, and leaves as it came. */
export function outputSchema(json: JsonSchema): Schema {
  return {
    json,
    check(value) {
      const { structuredContent } = value as McpToolValue
      if (structuredContent === undefined)
        return { ok: false, problems: ["Missing required parameter: structuredContent"] }
      const checked = judged(json, false, structuredContent)
      return checked.ok ? { ok: true, value } : checked
    },
  }
}

/** Why a tool cannot be used though it is agreed to: its schemas are ones nobody could judge by. Nothing of it is kept. */
export function schemaProblem({ inputSchema: input, outputSchema: output }: McpToolDefinition): string | undefined {
  for (const [name, json, closed] of [
    ["input", input, true],
    ["output", output, false],
  ] as const) {
    if (json === undefined) continue
    try {
      compileSchema(json as never, closed)
    } catch (error) {
      return `Its ${name} schema cannot be used, so it is left out: ${messageOf(error)}`
    }
  }
  return undefined
}

const known = new WeakMap<JsonSchema, { open?: Schema; closed?: Schema }>()

function compiled(json: JsonSchema, closed: boolean): Schema {
  const ready = known.get(json) ?? {}
  known.set(json, ready)
  return (ready[closed ? "closed" : "open"] ??= compileSchema(json as never, closed))
}

/** A schema that was usable when it was agreed to and no longer is refuses everything. */
function judged(json: JsonSchema, closed: boolean, value: unknown): Checked {
  try {
    return compiled(json, closed).check(value)
  } catch (error) {
    return { ok: false, problems: [`the schema of the server cannot be used: ${messageOf(error)}`] }
  }
}
