import type { ApprovalRequest, ApprovalUIAdapter, ExecutionDecision, ResultDecision } from "../model/approval.ts"
import type { ToolPermissionLevel } from "../model/permission.ts"
import type { ToolResult } from "../model/result.ts"

export interface ApprovalCallbacks {
  onExecution?(question: {
    tool: string
    description: string
    args: unknown
    level: ToolPermissionLevel
    request: ApprovalRequest
  }): boolean | ExecutionDecision | Promise<boolean | ExecutionDecision>
  onResult?(question: {
    tool: string
    args: unknown
    result: ToolResult
    request: ApprovalRequest
  }): boolean | ResultDecision | Promise<boolean | ResultDecision>
}

/** An adapter out of plain functions. What has no function is answered with no. */
export function callbackAdapter(callbacks: ApprovalCallbacks): ApprovalUIAdapter {
  return {
    async showToolExecutionApproval(tool, description, args, level, request) {
      if (callbacks.onExecution === undefined) return no("No execution approval callback set")
      return decision(await callbacks.onExecution({ tool, description, args, level, request }))
    },
    async showToolResultApproval(tool, args, result, request) {
      if (callbacks.onResult === undefined) return no("No result approval callback set")
      return decision(await callbacks.onResult({ tool, args, result, request }))
    },
  }
}

function no(rejectReason: string): ResultDecision {
  return { approved: false, rejectReason }
}

function decision<T extends ResultDecision>(given: boolean | T): T | ResultDecision {
  return typeof given === "boolean" ? { approved: given } : given
}
