import type { McpToolDefinition } from "../core/mcp.ts"
import type { JsonSchema } from "../core/schema.ts"
import type { Tool } from "../core/tool.ts"
import type { ToolDefinition } from "./groups.ts"
import { repairSchema } from "./schema-repair.ts"

export type LLMFormat = "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "flat"

/** The formats of the model providers, as their own types define them. */
export interface LLMTools {
  openai: ToolDefinition[]
  "openai-responses": ResponsesTool[]
  anthropic: AnthropicTool[]
  /** One element with all functions, or an empty list. */
  gemini: GeminiTool[]
  mcp: McpTool[]
  flat: FlatTool[]
}

export interface FlatTool {
  name: string
  description: string
  parameters: JsonSchema
}

export interface ResponsesTool extends FlatTool {
  type: "function"
  strict: false
}

export interface AnthropicTool {
  name: string
  description: string
  input_schema: JsonSchema
}

export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: JsonSchema }[]
}

export interface McpTool {
  name: string
  title?: string
  description: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
}

/** Maps tool names to wire names. */
export interface WireNaming {
  toWire(name: string): string
}

/** A change of the input schemas before a model sees them. */
export type SchemaChange = (schema: JsonSchema) => JsonSchema

const unchanged: SchemaChange = (schema) => schema

/** The tools in the format of a provider, sorted by wire name so that the same tools always make the same prompt. */
export function toLLMTools<Format extends LLMFormat>(
  tools: readonly Tool[],
  format: Format,
  names: WireNaming,
  change: SchemaChange = unchanged,
): LLMTools[Format] {
  if (!Object.hasOwn(shapes, format)) {
    throw new TypeError(`There is no format '${format}'. Use one of: ${Object.keys(shapes).join(", ")}.`)
  }
  const shown = tools.map((tool) => {
    return { tool, name: names.toWire(tool.name), input: change(repairSchema(tool.input.json)) }
  })
  return shapes[format](shown.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)))
}

/** The tools for MCP clients. A tool of an MCP server is passed on as the server defines it, under its wire name. */
export function mcpDefinitions(
  tools: readonly Tool[],
  names: WireNaming,
  change: SchemaChange = unchanged,
): McpToolDefinition[] {
  const given = new Map(tools.flatMap(({ name, mcp }) => (mcp === undefined ? [] : [[names.toWire(name), mcp]])))
  return toLLMTools(tools, "mcp", names, change).map((ours) => {
    const theirs = given.get(ours.name)
    return theirs === undefined ? { ...ours } : { ...theirs, name: ours.name, inputSchema: change(theirs.inputSchema) }
  })
}

interface Shown {
  tool: Tool
  name: string
  input: JsonSchema
}

const shapes: { [Format in LLMFormat]: (shown: readonly Shown[]) => LLMTools[Format] } = {
  openai: (shown) => shown.map((one) => ({ type: "function", function: flat(one) })),
  "openai-responses": (shown) => shown.map((one) => ({ type: "function", ...flat(one), strict: false })),
  anthropic: (shown) => shown.map((one) => ({ ...labelled(one), input_schema: one.input })),
  gemini: (shown) => {
    if (shown.length === 0) return []
    return [{ functionDeclarations: shown.map((one) => ({ ...labelled(one), parametersJsonSchema: one.input })) }]
  },
  mcp: (shown) => shown.map(mcp),
  flat: (shown) => shown.map(flat),
}

function labelled({ tool, name }: Shown): { name: string; description: string } {
  return { name, description: tool.description }
}

function flat(shown: Shown): FlatTool {
  return { ...labelled(shown), parameters: shown.input }
}

/** Only object schemas are listed as output: MCP clients before 2026 refuse the whole list when there is another. */
function mcp(shown: Shown): McpTool {
  const { title, output } = shown.tool
  return {
    name: shown.name,
    ...(title === undefined ? {} : { title }),
    description: shown.tool.description,
    inputSchema: shown.input,
    ...(output?.json["type"] === "object" ? { outputSchema: repairSchema(output.json) } : {}),
    annotations: annotationsOf(shown.tool),
  }
}

/** Unknown effects get the more cautious hint. A message only adds something; a network request may delete something. */
function annotationsOf({ effect, idempotent, destructive }: Tool): McpTool["annotations"] {
  const readOnlyHint = effect === "none" || effect === "read"
  return {
    readOnlyHint,
    destructiveHint: destructive ?? (!readOnlyHint && effect !== "communicate"),
    idempotentHint: idempotent,
    openWorldHint: effect === undefined || effect === "network" || effect === "communicate",
  }
}
