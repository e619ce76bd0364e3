import type { DialectText } from "./dialect-text.ts"

/** The status of an ended call, in five words. `ToolResult.code` is more precise. */
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
  invalid_arguments: { status: "error", exit: 2 },
  key_conflict: { status: "error", exit: 1 },
  timeout: { status: "error", exit: 1 },
  aborted: { status: "error", exit: 1 },
  tool_failed: { status: "error", exit: 1 },
  output_invalid: { status: "error", exit: 1 },
  interrupted: { status: "error", exit: 1 },
  unknown_outcome: { status: "error", exit: 1 },
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

/** The codes that go with a status. */
type CodeOf<Status extends ToolExecuteStatus> = {
  [Code in EndingCode]: (typeof endings)[Code]["status"] extends Status ? Code : never
}[EndingCode]

/**
 * The ending of a call. Every call returns one: a refusal, a timeout or a failing tool is a value, never an exception.
 *
 * ```ts
 * const ended = await app.call(request)
 * if (ended.status === "success") console.log(ended.result)
 * else console.error(ended.code, ended.error) // for example "permission_denied", with a sentence that says what to do
 * ```
 */
export type ToolResult<T = unknown> =
  | SuccessResult<T>
  | FailedResult<"error">
  | FailedResult<"not_found">
  | FailedResult<"execution_rejected">
  | FailedResult<"result_rejected", T>

/** The result of a call that succeeded. */
export interface SuccessResult<T = unknown> extends EndedCall {
  status: "success"
  success: true
  result: T
  code?: never
  error?: never
  cause?: never
  rejectReason?: never
}

/** The result of a call that did not succeed. Only a withheld one may have a value, with the option `keepWithheld`. */
export interface FailedResult<
  Status extends Exclude<ToolExecuteStatus, "success">,
  Withheld = never,
> extends EndedCall {
  status: Status
  success: false
  code: CodeOf<Status>
  /** A full sentence that says what to do next. */
  error: string
  result?: Withheld
  rejectReason?: string
  /**
   * The error thrown by a tool of your own, with its stack. Only in the program with the tool: not enumerable, so no
   * model, client or log that gets the result as JSON sees it.
   */
  readonly cause?: unknown
}

/** The fields that every result has, however the call ended. */
export interface EndedCall {
  callId: string
  toolName: string
  version: string
  /** Internal: the error before tool names are translated into the caller's dialect. */
  said?: DialectText
  /** The input that ran, when an approver edited it. */
  ranInput?: unknown
  /** The message to the model from the person who approved the call. */
  approvalNote?: string
  startedAt: number
  completedAt?: number
  durationMs?: number
  /**
   * Set when the text is too long for a model: its length, and the artifact that holds all of it. `part` says which part of
   * the artifact the result is, when the tool read one.
   */
  truncated?: { total: number; stored: string; part?: ArtifactPart }
  metadata?: Record<string, unknown>
}

/** A part of an artifact, in characters. */
export interface ArtifactPart {
  offset: number
  length: number
}

/** The result of a call that failed with a code. Its status follows from the code. */
export function failedWith(code: EndingCode, error: string, ended: EndedCall): Exclude<ToolResult, SuccessResult> {
  const failed = { ...ended, status: endings[code].status, success: false, code, error }
  return failed as Exclude<ToolResult, SuccessResult>
}

/** The result of a call that has run and whose row, with its held result, is gone: what became of it is not known. */
export function lostResult(toolName: string, callId: string, why: string): ToolResult {
  const ended = { callId, toolName, version: "", startedAt: Date.now(), metadata: { ran: true } }
  return failedWith("interrupted", why, ended)
}

/** A call that still waits, returned by `submit` in place of a result. Redeem it with `resume(callId)`. */
export interface Ticket {
  callId: string
  /** *started*: the caller runs the tool itself, and may begin now. Only calls with `elsewhere` get that. */
  state: "waiting" | "ready" | "held" | "started"
  /** The time the wait expires, in milliseconds since 1970. For *started*: the deadline of the caller's report. */
  until: number
  /** For *started*: what the caller runs now. */
  run?: HandedOver
}

/** The run that is handed over to a caller that runs the tool itself. */
export interface HandedOver {
  /** The input as it was approved, in the tool's own format. */
  input: unknown
  /** True when a person edited the input. */
  edited: boolean
  /** True when the program must ask its own person first, and the run counts as allowed there. */
  ask?: boolean
  /** The message to the model from the person who approved it. */
  note?: string
}

/** Tells a ticket from a result. */
export function isTicket(value: ToolResult | Ticket): value is Ticket {
  return !("status" in value)
}

/** The exit code of `qm call` for an ended call: 0 success, 1 error, 2 wrong input, 3 denied, 4 rejected by a person. */
export function exitCode(result: ToolResult): number {
  return result.code === undefined ? 0 : endings[result.code].exit
}

/** The result as people read it. */
export function inNativeNames(result: ToolResult): ToolResult {
  if (result.said === undefined) return result
  const { said: _said, ...plain } = result
  return plain
}
