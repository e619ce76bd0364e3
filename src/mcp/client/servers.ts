import type { Logger } from "../../model/logger.ts"
import type { McpServers, McpServerSpec } from "../../model/mcp.ts"
import type { Documents } from "../../model/ports.ts"
import type { Layer, RegisteredTool, Tool, ToolType } from "../../model/tool.ts"

/** What other people's servers need of the house. */
export interface ServersHost {
  registry: {
    register(tool: Tool, options: { layer: Layer; type: ToolType; replace?: boolean }): RegisteredTool
    unregister(name: string, options: { layer: Layer; version?: string }): boolean
    list(): readonly RegisteredTool[]
    wireNames(): { toWire(name: string): string; fromWire(wire: string): string | undefined }
  }
  groups: {
    hasGroup(id: string): boolean
    isReservedGroup(id: string): boolean
    registerGroup(id: string, group: { description: string; tools: [] }): unknown
    unregisterGroup(id: string): unknown
  }
  /** Where pins are kept. */
  documents: Documents
  logger: Logger
  /** The folder servers are told of. */
  workspace: string
  /** Our own version, told to servers. */
  version: string
  /** True waits with a connection until it is needed: for a process that makes one call and ends. */
  lazy: boolean
}

export interface RunningServers extends McpServers {
  close(): Promise<void>
}

export function mcpServers(_specs: readonly McpServerSpec[], _host: ServersHost): RunningServers {
  return {
    list: () => [],
    ready: async () => {},
    pins: () => [],
    trust: async () => [],
    resources: () => [],
    templates: () => [],
    prompts: () => [],
    subscribe: async () => async () => {},
    onChange: () => () => {},
    close: async () => {},
  }
}
