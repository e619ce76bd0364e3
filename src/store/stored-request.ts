import type { CallRow, CallRequest } from "../core/call.ts"
import type { ResultApproval } from "../core/permission.ts"
import type { HoldingRule } from "../core/verdict.ts"

/** Time for which the store remembers a caller's key and the result of a call that waited. */
export const keyWindowMs = 24 * 60 * 60 * 1000

/** Time after the answer in which an approved call can be continued. */
const redeemWindowMs = 10 * 60 * 1000

/**
 * Until when a call can be continued: for ten minutes after its answer, or as long as its conversation can be resumed. One
 * that only waited for others of its batch has a deadline instead of an answer.
 */
export function redeemableUntil(row: Pick<CallRow, "answer" | "deadline" | "request">): number {
  const answeredAt = row.answer?.at ?? row.deadline ?? 0
  return Math.max(answeredAt + redeemWindowMs, storedRequest(row).given.resumableUntil ?? 0)
}

/** The request as a row stores it, and its session. */
export interface StoredRequest {
  given: Omit<CallRequest, "input" | "signal">
  sessionId: string
  /** For a call that its caller runs: what was decided about it, for the report. */
  started?: StartedElsewhere
}

/** The data that the start of a call that runs elsewhere leaves for its end. */
export interface StartedElsewhere {
  at: number
  release: ResultApproval
  holds: readonly HoldingRule[]
  /** True when the caller's own program asks its person first. */
  ask?: boolean
}

export function storedRequest(row: Pick<CallRow, "request">): StoredRequest {
  return JSON.parse(row.request) as StoredRequest
}
