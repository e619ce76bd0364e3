import type { Documents } from "../core/documents.ts"
import type { Logger } from "../core/logger.ts"
import type { Layer, RegisteredTool, Tool, ToolType } from "../core/tool.ts"

/** The parts of the app that the MCP servers need. */
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
  /** The store of pins. */
  documents: Documents
  logger: Logger
  /** The workspace folder, which servers get as their root. */
  workspace: string
  /** Our own version, as reported to servers. */
  version: string
  /** The private folder of login files; without it signing in is not possible. */
  logins?: string
  /** Connects only when needed: for a process that makes one call and ends. */
  lazy: boolean
}
