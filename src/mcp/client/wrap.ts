import { defineTool } from "../../model/define-tool.ts"
import type { McpToolDefinition } from "../../model/mcp.ts"
import type { ToolPermission } from "../../model/permission.ts"
import type { Tool, ToolContext } from "../../model/tool.ts"
import type { MCPCallOptions } from "./client.ts"
import { toolName } from "./names.ts"
import { toolValue } from "./results.ts"
import { inputSchema, outputSchema } from "./schemas.ts"

/** What a tool of a server needs of whatever it is called through. */
export interface WrappedCall {
  readonly server: string
  readonly timeoutMs?: number | undefined
  readonly wireName?: string | undefined
  /** The tool by which it may ask a person. */
  readonly asks?: string | undefined
  /** The host the input goes to. */
  readonly host?: string | undefined
  /** Returns the answer to `tools/call` as the server sent it. */
  call(args: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

/** What `wrapMCPTool` calls tools with: an `MCPClient`, or anything like one. */
export interface MCPCaller {
  /** Whose tools they are; *mcp* when left out. */
  readonly name?: string | undefined
  callTool(name: string, args: Record<string, unknown>, options?: MCPCallOptions): Promise<unknown>
}

/**
 * A tool of a connected server as one of ours (S4): `mcp:<server>:<tool>`, in the group of the server's name. Nobody has
 * looked at what the server says of it; servers of the configuration are pinned.
 */
export function wrapMCPTool(mcpTool: McpToolDefinition, client: MCPCaller): Tool {
  return wrapTool(mcpTool, {
    server: client.name ?? "mcp",
    call: (args, { signal, emit, ask }) =>
      client.callTool(mcpTool.name, args, {
        signal,
        // The walk's clock ends the call.
        timeoutMs: null,
        onProgress: (progress) => emit(progress),
        onLog: (log) => emit({ log }),
        ...(ask === undefined ? {} : { askCaller: ask }),
      }),
  })
}

/**
 * A tool of a server as one of ours. What the server says of it may only tighten: it is moderate, and sensitive where it
 * says that it destroys; that it only reads, or may be repeated, is not believed.
 */
export function wrapTool(definition: McpToolDefinition, { server, call, ...given }: WrappedCall): Tool {
  const { name, title, description = "", annotations } = definition
  const { timeoutMs, wireName, asks, host } = given
  const full = toolName(server, name)
  return defineTool({
    name: full,
    group: server,
    description: description.trim() === "" ? (title ?? `The tool ${name} of the MCP server ${server}.`) : description,
    category: "mcp",
    effect: "network",
    permission: permissionOf(annotations),
    input: inputSchema(definition.inputSchema),
    mcp: definition,
    ...(title === undefined ? {} : { title }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(wireName === undefined ? {} : { wireName }),
    ...(asks === undefined ? {} : { asks }),
    ...(definition.outputSchema === undefined ? {} : { output: outputSchema(definition.outputSchema) }),
    ...(host === undefined ? {} : { touches: () => [{ kind: "host" as const, what: host, configured: true }] }),

    async execute(input, context) {
      return toolValue(full, await call(input as Record<string, unknown>, context))
    },
  })
}

function permissionOf(annotations: McpToolDefinition["annotations"]): ToolPermission {
  return { level: annotations?.["destructiveHint"] === true ? "sensitive" : "moderate" }
}
