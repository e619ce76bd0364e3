import type { DefinedTool } from "../../registry/adapters.ts"
import type { ToolExecuteStatus, ToolResult } from "../../core/result.ts"

/** A function definition with its permission level. */
export type ToolDefinitionWithPermission = DefinedTool["definition"]

/** S1's result. There is `data` only when the call succeeded: what a person withheld is not in it. */
export interface ToolExecuteResult {
  status: ToolExecuteStatus
  data?: unknown
  error?: string
  rejectReason?: string
}

/** A result of ours in S1's form. */
export function executeResult(ended: ToolResult): ToolExecuteResult {
  const { status, toolName, rejectReason } = ended
  if (ended.success) return { status, data: ended.result }
  const error = status === "not_found" ? `Tool ${toolName} not found` : ended.error
  return { status, error, ...(rejectReason === undefined ? {} : { rejectReason }) }
}
