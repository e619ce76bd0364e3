/** How a call ended, in S1's words. */
export const ToolExecuteStatus = {
  SUCCESS: "success",
  ERROR: "error",
  EXECUTION_REJECTED: "execution_rejected",
  RESULT_REJECTED: "result_rejected",
  NOT_FOUND: "not_found",
} as const
export type ToolExecuteStatus = (typeof ToolExecuteStatus)[keyof typeof ToolExecuteStatus]

/** Every code a call can end with, its status, and the exit code of the command line. */
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

/** What every call ends with, whatever happened. Expected endings are values, never exceptions. */
export interface ToolResult<T = unknown> {
  callId: string
  toolName: string
  version: string
  status: ToolExecuteStatus
  success: boolean
  code?: EndingCode
  result?: T
  error?: string
  rejectReason?: string
  /** The input that ran, when a person edited it. */
  ranInput?: unknown
  startedAt: number
  completedAt?: number
  durationMs?: number
  /** The text was longer than a model is given; the whole of it is kept as an artifact. */
  truncated?: { total: number; stored: string }
  metadata?: Record<string, unknown>
}

/** A call that still waits. Never a result. */
export interface Ticket {
  callId: string
  state: "waiting" | "ready" | "held"
  /** When the wait ends by itself, in milliseconds since 1970. */
  until: number
}

export function isTicket(value: ToolResult | Ticket): value is Ticket {
  return !("status" in value)
}

/** The command line's exit code for an ended call. */
export function exitCode(result: ToolResult): number {
  return result.code === undefined ? 0 : endings[result.code].exit
}
