import type { ToolPermissionLevel } from "./permission.ts"
import type { Reason } from "./record.ts"
import type { ToolResult } from "./result.ts"

/** What an approver is shown beyond S1's four arguments. */
export interface ApprovalRequest {
  callId: string
  agentId: string
  role: string
  tool: string
  reasons: readonly Reason[]
  preview?: string | undefined
  /** When the wait ends by itself. */
  until: number
  /** Aborted when somebody else answered or the wait is over: close the dialog. */
  signal: AbortSignal
}

export interface ExecutionDecision {
  approved: boolean
  /** S1's "remember": kept with the answer. */
  persistDecision?: boolean
  rejectReason?: string
  /** Who answered, where the adapter knows. */
  by?: string
}

export interface ResultDecision {
  approved: boolean
  rejectReason?: string
  by?: string
}

/** How a person is asked (S1). A rejected promise or a closed dialog is a no. */
export interface ApprovalUIAdapter {
  showToolExecutionApproval(
    toolName: string,
    toolDescription: string,
    args: unknown,
    permissionLevel: ToolPermissionLevel,
    request: ApprovalRequest,
  ): Promise<ExecutionDecision>
  showToolResultApproval(
    toolName: string,
    args: unknown,
    result: ToolResult,
    request: ApprovalRequest,
  ): Promise<ResultDecision>
}

/** A question of ask_user. */
export interface Question {
  question: string
  options?: readonly string[] | undefined
  multiple?: boolean | undefined
  signal: AbortSignal
}

/** Asks a person and resolves with the answer; rejects with a sentence when nobody can be asked. */
export type Ask = (question: Question) => Promise<string | string[]>
