import type { JsonSchema } from "../../core/schema.ts"
import type { ToolCategory, ToolContext, ToolType } from "../../core/tool.ts"
import type { Shorthand } from "../../registry/shorthand.ts"
import type { PrivateCallContext } from "../private-app.ts"

/** JSON Schema, or S2's shorthand such as `{ file_path: "string", limit: "number?" }`. */
export type JSONSchema = JsonSchema | Shorthand

export interface RateLimit {
  maxCallsPerMinute: number
  maxCallsPerHour: number
}

export interface ToolPermissions {
  /** Empty: every role. */
  allowedRoles: readonly string[]
  /** Empty: every department. */
  allowedDepartments: readonly string[]
  minLevel: number
  requireConfirmation: boolean
  isDangerous: boolean
  rateLimit: RateLimit
}

export type ToolHandler = WithHandler["handler"]

/** A method, so that a function may state its parameters more precisely. */
interface WithHandler {
  /** Returns the result, or throws. `context` is the one of `execute`, with what every tool of ours is given. */
  handler(params: Record<string, unknown>, context: ExecutionContext & ToolContext): unknown
}

/** A tool in the registry. */
export interface Tool extends WithHandler {
  id: string
  name: string
  description: string
  category: ToolCategory
  type: ToolType
  inputSchema: JSONSchema
  outputSchema: JSONSchema
  permissions: ToolPermissions
  version: string
  author: string
  tags: readonly string[]
  /** For a tool of an MCP server. */
  mcpName?: string
}

type Given = "name" | "description" | "inputSchema" | "permissions"

/** A tool to register. What it leaves out gets a default. Only a handler makes it work. */
export interface BuiltinTool extends Pick<Tool, "name" | "description" | "inputSchema">, Partial<Omit<Tool, Given>> {
  permissions?: Partial<ToolPermissions>
}

/** A tool of an MCP server. Without a handler it is called by the server's client. */
export interface MCPTool extends Pick<Tool, "name">, Partial<Omit<Tool, "name" | "permissions">> {
  permissions?: Partial<ToolPermissions>
}

/** All parts are ANDed. */
export interface ToolFilter {
  category?: ToolCategory
  type?: ToolType
}

export interface ToolDescription {
  name: string
  description: string
  parameters: JsonSchema
}

export interface Agent {
  id: string
  role: string
  departmentId?: string
  level?: number
}

/** The context of a call. Handlers get all of it. */
export interface ExecutionContext extends Omit<PrivateCallContext, "agentId" | "approve" | "approvals"> {
  /** Asks the person about this call. */
  requestConfirmation?(agent: Agent, tool: Tool, params: unknown): boolean | Promise<boolean>
  readonly [more: string]: unknown
}

export interface PermissionCheckResult {
  allowed: boolean
  reason?: string
  requiresConfirmation?: boolean
}

/** The return value of the tool. */
export type ToolResult = unknown
