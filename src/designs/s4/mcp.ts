import { z } from "zod"
import { MCPClient as CoreClient, type MCPCallOptions } from "../../mcp-servers/client.ts"
import { wrapMCPTool as wrapCoreTool, type MCPCaller } from "../../mcp-servers/wrap-tool.ts"
import type { McpToolDefinition } from "../../core/mcp.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { ToolCategory } from "../../core/tool.ts"
import { FencedApps } from "../fenced-apps.ts"
import { coreTools } from "./tools.ts"
import { resultOf, type Tool } from "./types.ts"

/** A client of one MCP server. Its own calls are not decided, limited or recorded; those of wrapped tools are. */
export class MCPClient extends CoreClient {
  /** `args` may be of any type here; it must be an object. */
  override callTool(name: string, args: unknown = {}, options?: MCPCallOptions) {
    return super.callTool(name, args as Readonly<Record<string, unknown>>, options)
  }
}

/** Makes a Zod schema of a JSON Schema with Zod's own converter. Calls do not use it: Ajv checks foreign schemas. */
export function jsonSchemaToZod(schema: JsonSchema): z.ZodType {
  return z.fromJSONSchema(schema as never)
}

/** A tool of a connected server under its own name. A call of it asks a person, as with every server's tool. */
export function wrapMCPTool(mcpTool: McpToolDefinition, client: MCPCaller): Tool {
  const { name } = mcpTool
  const core = { ...wrapCoreTool(mcpTool, client), name }
  const entry = { tool: core, options: { type: "mcp" as const } }
  const apps = new FencedApps({ design: "s4", language: "en", tools: () => [entry] })
  const tool: Tool = {
    name,
    description: core.description,
    category: ToolCategory.MCP,
    get parameters() {
      return jsonSchemaToZod(mcpTool.inputSchema)
    },
    execute: async (params, context) => resultOf(await apps.call(name, params, context), name),
  }
  coreTools.set(tool, entry)
  return tool
}
