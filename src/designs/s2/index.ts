// Design S2, BeesTown tools, in its own names: `quartermaster/designs/s2`. docs/designs.md has both ways to write each of them.
export { ToolCategory } from "../../core/tool.ts"
export { MCPClient } from "../../mcp-servers/client.ts"
export { ExecutionCancelledError, PermissionDeniedError, ToolNotFoundError } from "./errors.ts"
export { ToolRegistry, type ToolRegistryOptions } from "./registry.ts"
export { ToolDiscovery } from "./discovery.ts"
export { ToolExecutionEngine, type EngineOptions } from "./engine.ts"
export { ToolPermissionManager } from "./permissions.ts"
export {
  ToolAuditLogger,
  type AuditedExecution,
  type LoggedFailure,
  type LoggedStart,
  type LoggedSuccess,
} from "./audit.ts"
export { Bash, builtinTools, Edit, Glob, Grep, NotebookEdit, NotebookRead, Read, TodoWrite } from "./builtin-tools.ts"
export type {
  Agent,
  BuiltinTool,
  ExecutionContext,
  JSONSchema,
  MCPTool,
  PermissionCheckResult,
  RateLimit,
  Tool,
  ToolDescription,
  ToolFilter,
  ToolHandler,
  ToolPermissions,
  ToolResult,
} from "./types.ts"
