// The names of design S4. Every name is listed by hand.
import { resolve } from "node:path"
import { readSource } from "../../config/find.ts"
import { asUnnamed } from "../../config/known-folders.ts"
import { readTrusted } from "../../config/read-layer.ts"
import type { Config } from "../../config/schema.ts"

export { ToolCategory } from "../../core/tool.ts"
export type { FileInfo, SearchResult, Tool, ToolContext, ToolDefinition, ToolResult } from "./types.ts"
export { ToolExecutor, ToolRegistry, type ToolExecutorOptions } from "./executor.ts"
export type { ToolStats } from "../../registry/registry.ts"
export type { JsonSchema as JSONSchema } from "../../core/schema.ts"
export {
  base64_decode,
  base64_encode,
  builtinTools,
  current_time,
  delete_file,
  get_env,
  get_file_info,
  http_get,
  http_post,
  http_request,
  json_parse,
  json_stringify,
  list_files,
  move_file,
  read_file,
  set_env,
  sleep,
  web_search,
  write_file,
} from "./tools.ts"
export { DEFAULT_TOOL_TIMEOUT, isPathAllowed, NETWORK_TOOL_TIMEOUT, Semaphore } from "./limits.ts"
export { jsonSchemaToZod, MCPClient, wrapMCPTool } from "./mcp.ts"
export type { McpToolDefinition as MCPTool } from "../../core/mcp.ts"
export {
  ToolError,
  ToolNotFoundError,
  ToolPermissionError,
  ToolTimeoutError,
  ToolValidationError,
} from "../../core/errors.ts"
export { Actor } from "../../agents/acting/actor.ts"
export { newTask, type ActionResult, type PlanStep, type TaskContext } from "../../agents/acting/task.ts"
export { ruleReflector } from "../../agents/reflection/rules.ts"
export type { Reflection, Reflector } from "../../agents/reflection/reflector.ts"

/** The events of a call, for `executor.on` and `app.on`. */
export const TOOL_CALL_REQUESTED = "TOOL_CALL_REQUESTED"
export const TOOL_CALL_COMPLETED = "TOOL_CALL_COMPLETED"
export const TOOL_CALL_FAILED = "TOOL_CALL_FAILED"

/** Reads a `config.yml` as S4 writes it, with its variables filled in. For `createQuartermaster` and `ToolExecutor`. */
export function loadConfig(file: string): Config {
  const { config } = readTrusted(readSource(resolve(file)), process.env)
  if (config.data !== undefined) asUnnamed(config.data)
  return config
}
