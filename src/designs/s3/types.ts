import type { Config } from "../../config/schema.ts"
import type { Logger } from "../../core/logger.ts"
import type { ToolResult as Ended } from "../../core/result.ts"
import type { BaseTool, BaseToolResult } from "../../registry/base-tool.ts"

export type ToolResult = BaseToolResult

/** A call that a model asks for. */
export interface ToolCall {
  name: string
  arguments: Record<string, unknown>
}

export interface ValidationResult {
  valid: boolean
  errors: string[]
}

export interface ToolDefinition {
  name: string
  description: string
  parameters: Readonly<Record<string, unknown>>
}

/** `warn` is ours and may be missing. */
export type ILogger = Omit<Logger, "warn"> & Partial<Pick<Logger, "warn">>

export interface GlobalConfig {
  /** `enabled` and `workspaceDir` are S3's own; the others are keys of the core and of S3's later source. */
  tools: Config["tools"] & { enabled?: readonly string[]; workspaceDir?: string; shellTimeout?: number }
}

export interface ToolPlugin {
  name: string
  version: string
  tools: BaseTool[]
}

/** A match of `code_query`. */
export interface SearchResult {
  file: string
  line: number
  column: number
  code: string
  context: string
}

/** An entry of `file_list`. */
export interface FileInfo {
  name: string
  path: string
  type: "file" | "directory"
  size: number
  modified: number
}

/** The result of `shell_exec`, besides its command. */
export interface ExecResult {
  stdout: string
  stderr: string
  exitCode: number
}

/** A call as S3 writes its result. */
export function resultOf(ended: Ended): ToolResult {
  const { success, result, durationMs = 0 } = ended
  const { problems: _problems, calledAs: _calledAs, ran: _ran, ...metadata } = ended.metadata ?? {}
  return {
    success,
    ...(success ? { data: result } : { error: errorText(ended) }),
    metadata: { ...metadata, executionTime: durationMs },
  }
}

/** The core's sentence without what S3 does not say, where S3 gives the whole text. */
function errorText({ error = "", code, metadata = {} }: Ended): string {
  const { problems, toolCode } = metadata
  if (code === "invalid_arguments" && Array.isArray(problems)) return `Validation failed: ${problems.join(", ")}`
  if (toolCode === "snippet_not_found") return error.replace(/(?<=' not found)\. [^.]*\.$/, "")
  if (code === "command_denied") return error.replace(/^\S+ was not executed: /, "Command execution failed: ")
  if (code === "path_outside_workspace") return error.replace(/(?<=^[^:]+: )\S+ was not executed: Access denied: /, "")
  return error
}
