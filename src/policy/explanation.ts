import type { CallRequest } from "../core/call.ts"
import type { RuleVerdict, Approvers } from "../core/rule.ts"
import type { Touches } from "../core/touches.ts"
import type { EndingCode } from "../core/result.ts"
import type { Reason } from "../core/reason.ts"

/** A call that is only asked about. `allowedPaths` are the paths that it would be limited to. */
export type WhyRequest = Pick<CallRequest, "agentId" | "tool" | "sessionId" | "taskId" | "allowedPaths"> & {
  input?: unknown
}

/** The verdict on a call that was not made, with the result of every check in order, and what would change it. */
export interface Explanation {
  agentId: string
  tool: string
  verdict: RuleVerdict
  /** The ending a denied call would have. */
  code?: EndingCode
  reasons: readonly Reason[]
  /**
   * The results of all checks, in order. `pass`: the check had no objection. `fix` is the exact command or the exact
   * line of YAML that would change the result.
   */
  checks: readonly (Reason & { verdict: RuleVerdict | "pass"; fix?: string })[]
  touches: Touches
  approvers: readonly Approvers[]
  /** True if the result would be held back. */
  release: "never" | "on-error" | "always"
  /** Changes that would give another verdict: commands, lines of YAML, or else a sentence. */
  change: readonly string[]
  /** The narrowest rule that would let it run unasked, where only the tool's level asks. */
  rule?: { allow: string; agent: string; touching?: readonly string[] }
  /** The problems of the input, each as a sentence, when they are why the call would be refused. */
  problems?: readonly string[]
  policy: string
}

/** Explains the outcome of a call without making it. */
export type Why = (request: WhyRequest) => Promise<Explanation>
