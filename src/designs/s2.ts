// Design S2, BeesTown tools, in its own names: `quartermaster/designs/s2`. docs/designs.md has both ways to write each of them.
export { ToolCategory } from "../core/tool.ts"
export { MCPClient } from "../mcp-servers/client.ts"
export { ExecutionCancelledError, PermissionDeniedError, ToolNotFoundError } from "./s2-errors.ts"
export { ToolRegistry, type ToolRegistryOptions } from "./s2-registry.ts"
export { ToolDiscovery } from "./s2-discovery.ts"
export { ToolExecutionEngine, type EngineOptions } from "./s2-engine.ts"
export { ToolPermissionManager } from "./s2-permissions.ts"
export {
  ToolAuditLogger,
  type AuditedExecution,
  type LoggedFailure,
  type LoggedStart,
  type LoggedSuccess,
} from "./s2-audit.ts"
export {
  Bash,
  builtinTools,
  Edit,
  Glob,
  Grep,
  NotebookEdit,
  NotebookRead,
  Read,
  TodoWrite,
} from "./s2-builtin-tools.ts"
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
} from "./s2-types.ts"
