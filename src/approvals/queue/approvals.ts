import type { PendingItem, WaitingCounts, Answer, AnswerResult } from "../../core/approval.ts"
import type { AskBy } from "./askers.ts"
import type { Grant } from "../../core/rule.ts"

/**
 * The approval queue: calls that wait for approval, held results, and questions.
 *
 * ```ts
 * for (const { callId, tool, input, revision } of await app.approvals.list()) {
 *   console.log(tool, input)
 *   await app.approvals.answer(callId, { kind: "approve" }, "ann", revision)
 * }
 * ```
 */
export interface Approvals {
  /**
   * Asks a person at this process about what begins to wait, until the returned function is called: by an adapter, or with
   * `"queue"` by cards that the caller shows and answers itself. `person` is who answers where the adapter does not say. Of
   * several the last one is asked.
   *
   * ```ts
   * const detach = app.approvals.attach(terminalAdapter({ input: process.stdin, output: process.stderr }), "ann")
   * ```
   */
  attach(by: AskBy, person?: string | (() => Promise<string>)): () => void
  /** Everything that waits, oldest first; with `limit` at most so many, those after the last item of the page before. */
  list(filter?: {
    agentId?: string
    after?: Pick<PendingItem, "callId" | "createdAt">
    limit?: number
  }): Promise<PendingItem[]>
  /** Counts what waits, by kind, of one agent or all, all of it or what began to wait since a time. */
  count(filter?: { agentId?: string; since?: number }): Promise<WaitingCounts>
  /** A unique beginning of the id is enough. Undefined when no such item waits. */
  show(callId: string): Promise<PendingItem | undefined>
  /** Says why this person's yes would not count where a rule names who must agree; undefined when it would. */
  votingProblem(item: PendingItem, by: string): string | undefined
  /**
   * Answers one item. Pass the `revision` that the person saw: if the item has changed since, the answer is refused.
   * Without it, the answer counts for the newest revision. The tool runs in the process that waits, never in here. The
   * audit log says so when it came from a link (`via`).
   */
  answer(callId: string, saying: Answer, by: string, revision?: number, via?: "link"): Promise<AnswerResult>
  /**
   * Approves a call and adds the rule that its card offers (`PendingItem.rule`), until `expiresAt`. Only for the user of this
   * machine: it is not an `Answer`, so that nothing that forwards answers can add rules.
   */
  approveWithRule(
    callId: string,
    given: { by: string; expiresAt: number; revision?: number; note?: string },
  ): Promise<AnswerResult>
  /** Remembered answers. */
  grants(filter?: { agentId?: string; includeExpired?: boolean }): Promise<Grant[]>
  /** Revokes a grant and returns it. Undefined when there is no such grant. */
  revoke(grantId: string, by: string): Promise<Grant | undefined>
}
