import type { z } from "zod"
import type { ToolCategory } from "../../core/tool.ts"
import type { ToolResult as Ended } from "../../core/result.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { errorOf } from "../../core/errors.ts"
import type { PrivateCallContext } from "../private-app.ts"

/** A tool, in S4. */
export interface Tool {
  name: string
  description: string
  category: ToolCategory
  parameters: z.ZodTypeAny
  execute: (params: unknown, context: ToolContext) => Promise<ToolResult>
}

export interface ToolResult {
  toolName: string
  success: boolean
  result?: unknown
  error?: string
  startedAt: number
  completedAt?: number
  durationMs?: number
}

/** `approve`, `ask`, `sessionId`, `signal` and `timeoutMs` are ours. */
export interface ToolContext extends Pick<
  PrivateCallContext,
  "approve" | "ask" | "approvals" | "sessionId" | "signal" | "timeoutMs"
> {
  taskId: string
  userId?: string
  allowedPaths?: string[]
}

/** A tool as a model is shown it. */
export interface ToolDefinition {
  name: string
  description: string
  parameters: JsonSchema
}

/** An entry of `list_files`. */
export interface FileInfo {
  name: string
  path: string
  type: string
  size: number
  modified: number | null
}

/** A result of `web_search`. */
export interface SearchResult {
  title: string
  url: string
  snippet: string
}

/** A call as S4 writes its result, with the messages of S4's error classes. */
export function resultOf(ended: Ended, toolName: string): ToolResult {
  const { success, startedAt, completedAt, durationMs } = ended
  return {
    toolName,
    success,
    ...(success ? { result: ended.result } : { error: errorText(ended, toolName) }),
    startedAt,
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function errorText(ended: Ended, toolName: string): string {
  // A reader of the result knows that it was not executed.
  const message = errorOf({ ...ended, toolName }).message.replace(`${toolName} was not executed: `, "")
  const problems = ended.code === "invalid_arguments" ? ended.metadata?.["problems"] : undefined
  return Array.isArray(problems) ? `${message}: ${problems.join(", ")}` : message
}
