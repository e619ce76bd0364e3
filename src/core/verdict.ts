import type { Reason } from "./reason.ts"
import type { EndingCode } from "./result.ts"
import type { Approvers } from "./rule.ts"

export interface Verdict {
  verdict: "allow" | "ask" | "deny"
  /** Why, strongest first. For an ask: what an approver must approve. Rules in shadow come last. */
  reasons: readonly Reason[]
  /** The ending of a deny. */
  code?: EndingCode
  /** For a deny by a rate limit: when to try again. */
  retryAfterMs?: number
  /** For an ask: every requirement must be met. */
  approvers?: readonly Approvers[]
  /** For an ask: the shortest deadline a rule set, in milliseconds. */
  deadlineMs?: number
  /** The condition on which a rule holds the result. */
  release?: "always" | "on-error"
  /** The rules that hold the result. */
  holds?: readonly HoldingRule[]
}

/** A rule that holds results back: why, and whether all of them or only failures. */
export interface HoldingRule {
  when: "always" | "on-error"
  reason: Reason
}

export type LimitVerdict = { ok: true } | { ok: false; sentence: string; retryAfterMs: number }
