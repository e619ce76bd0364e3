import type { DialectText } from "./dialect-text.ts"

/** How a call ended, in five words. `ToolResult.code` says it more precisely. */
export const ToolExecuteStatus = {
  SUCCESS: "success",
  ERROR: "error",
  EXECUTION_REJECTED: "execution_rejected",
  RESULT_REJECTED: "result_rejected",
  NOT_FOUND: "not_found",
} as const
export type ToolExecuteStatus = (typeof ToolExecuteStatus)[keyof typeof ToolExecuteStatus]

/** Every code a call can end with, its status, and the exit code of `qm call`. */
export const endings = {
  unknown_tool: { status: "not_found", exit: 1 },
  invalid_arguments: { status: "error", exit: 1 },
  key_conflict: { status: "error", exit: 1 },
  timeout: { status: "error", exit: 1 },
  aborted: { status: "error", exit: 1 },
  tool_failed: { status: "error", exit: 1 },
  output_invalid: { status: "error", exit: 1 },
  interrupted: { status: "error", exit: 1 },
  record_unavailable: { status: "error", exit: 1 },
  upstream_unavailable: { status: "error", exit: 1 },
  tool_not_available: { status: "error", exit: 3 },
  permission_denied: { status: "error", exit: 3 },
  path_outside_workspace: { status: "error", exit: 3 },
  command_denied: { status: "error", exit: 3 },
  host_denied: { status: "error", exit: 3 },
  rate_limited: { status: "error", exit: 3 },
  frozen: { status: "error", exit: 3 },
  approval_rejected: { status: "execution_rejected", exit: 4 },
  approval_expired: { status: "execution_rejected", exit: 4 },
  result_withheld: { status: "result_rejected", exit: 4 },
} as const satisfies Record<string, { status: ToolExecuteStatus; exit: number }>

export type EndingCode = keyof typeof endings

/**
 * How a call ended. Every call returns one: a refusal, a timeout or a failing tool is a value, never an exception.
 *
 * ```ts
 * const { success, result, code, error } = await app.call(request)
 * if (!success) console.error(code, error) // for example "permission_denied", with a sentence that says what to do
 * ```
 */
export interface ToolResult<T = unknown> {
  callId: string
  toolName: string
  version: string
  status: ToolExecuteStatus
  success: boolean
  /** Left out when the call succeeded. */
  code?: EndingCode
  result?: T
  /** A full sentence that says what to do next. */
  error?: string
  /** Internal: the error before tool names are translated into the caller's dialect. */
  said?: DialectText
  rejectReason?: string
  /** The input that ran, when an approver edited it. */
  ranInput?: unknown
  startedAt: number
  completedAt?: number
  durationMs?: number
  /** Set when the text is too long for a model: its length, and the artifact that holds all of it. */
  truncated?: { total: number; stored: string }
  metadata?: Record<string, unknown>
}

/** A call that still waits, returned by `submit` in place of a result. Redeem it with `resume(callId)`. */
export interface Ticket {
  callId: string
  state: "waiting" | "ready" | "held"
  /** When the wait expires, in milliseconds since 1970. */
  until: number
}

/** Tells a ticket from a result. */
export function isTicket(value: ToolResult | Ticket): value is Ticket {
  return !("status" in value)
}

/** The exit code of `qm call` for an ended call: 0 success, 1 error, 3 denied, 4 rejected by a person. */
export function exitCode(result: ToolResult): number {
  return result.code === undefined ? 0 : endings[result.code].exit
}
