import { defineTool } from "../schema/define-tool.ts"
import { saysItOnlyReads, type McpToolDefinition } from "../core/mcp.ts"
import type { Tool, ToolContext } from "../core/tool.ts"
import type { MCPCallOptions } from "./client.ts"
import { toolName } from "./names.ts"
import { toolValue } from "./check-result.ts"
import { inputSchema, outputSchema } from "./schemas.ts"

/** The call of a wrapped tool. */
export interface WrappedCall {
  readonly server: string
  readonly timeoutMs?: number
  readonly wireName?: string
  /** The tool by which the server asks a person. */
  readonly asks?: string
  /** The host the input goes to. */
  readonly host?: string
  /** The base folders of the server's relative paths; undefined for a server on another machine. */
  readonly folders?: readonly string[]
  /** True if the server is believed when it says that a tool only reads. */
  readonly trustReadOnly?: boolean
  /** Returns the result of `tools/call` as the server sent it. */
  call(args: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

/** The caller of tools for `wrapMCPTool`: an `MCPClient` or something similar. */
export interface MCPCaller {
  /** The server's name; *mcp* when left out. */
  readonly name?: string
  callTool(name: string, args: Record<string, unknown>, options?: MCPCallOptions): Promise<unknown>
}

/**
 * Wraps a tool of a connected server as `mcp:<server>:<tool>`, in a group with the server's name. Its definition is not
 * pinned; those of configured servers are.
 */
export function wrapMCPTool(mcpTool: McpToolDefinition, client: MCPCaller): Tool {
  return wrapTool(mcpTool, {
    server: client.name ?? "mcp",
    call: (args, { signal, emit, sendRequest }) =>
      client.callTool(mcpTool.name, args, {
        signal,
        // The call has its own timeout.
        timeoutMs: null,
        onProgress: (progress) => emit(progress),
        onLog: (log) => emit({ log }),
        ...(sendRequest === undefined ? {} : { askCaller: sendRequest }),
      }),
  })
}

/**
 * Wraps a tool of a server. Its annotations can only tighten: it is moderate, or sensitive if it says that it is
 * destructive. That it only reads, or may be repeated, is not believed.
 */
export function wrapTool(definition: McpToolDefinition, { server, call, ...options }: WrappedCall): Tool {
  const { name, title, description = "", annotations } = definition
  const { timeoutMs, wireName, asks, host, folders } = options
  const onlyReads = options.trustReadOnly === true && saysItOnlyReads(definition)
  const fullName = toolName(server, name)
  return defineTool({
    name: fullName,
    group: server,
    description: description.trim() === "" ? (title ?? `The tool ${name} of the MCP server ${server}.`) : description,
    category: "mcp",
    effect: "network",
    permission: { level: isDestructive(annotations) ? "sensitive" : "moderate" },
    ...(isDestructive(annotations) ? { destructive: true } : {}),
    input: inputSchema(definition.inputSchema),
    mcp: definition,
    ...(title === undefined ? {} : { title }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(wireName === undefined ? {} : { wireName }),
    ...(asks === undefined ? {} : { questionTool: asks }),
    ...(definition.outputSchema === undefined ? {} : { output: outputSchema(definition.outputSchema) }),
    ...(folders === undefined ? {} : { namedPaths: { folders, onlyReads } }),
    ...(host === undefined ? {} : { touches: () => [{ kind: "host" as const, what: host, configured: true }] }),

    async execute(input, context) {
      return toolValue(fullName, await call(input as Record<string, unknown>, context))
    },
  })
}

function isDestructive(annotations: McpToolDefinition["annotations"]): boolean {
  return annotations?.["destructiveHint"] === true
}
