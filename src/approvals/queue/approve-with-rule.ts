import type { Approvals } from "./approvals.ts"
import type { AnswerResult } from "../../core/approval.ts"
import { errorMessage } from "../../lib/error-message.ts"
import type { ApprovalPorts } from "./ports.ts"
import { answerPending } from "./answer-pending.ts"
import { offeredRule } from "./offered-rule.ts"

/** Approves a call, then adds the rule that its card offers. A call that is not approved adds nothing. */
export async function approveWithRule(
  callId: string,
  { by, expiresAt, revision, note }: Parameters<Approvals["approveWithRule"]>[1],
  ports: ApprovalPorts,
  addRule: (rule: object, by: string) => Promise<unknown>,
): Promise<AnswerResult> {
  const row = await ports.calls.get(callId)
  const offered = row && offeredRule(row)
  if (row !== undefined && row.answer === null && offered === undefined)
    return { ok: false, sentence: "No rule is offered for this call. Approve it without one, or see 'qm rules add'." }
  if (expiresAt <= ports.now())
    return { ok: false, sentence: "The rule would have expired already. Give a later time." }
  // The rule is that of the revision that is approved.
  const answered = await answerPending(callId, { kind: "approve", note }, by, ports, revision ?? row?.revision)
  if (!answered.ok || !answered.done || offered === undefined) return answered
  const { words, ...rule } = offered
  const because = `${by} allowed it when approving call ${callId}.`
  try {
    await addRule({ ...rule, because, expiresAt: new Date(expiresAt).toISOString() }, by)
  } catch (error) {
    return { ok: false, sentence: `The call is approved, but the rule was not added: ${errorMessage(error)}` }
  }
  const until = new Date(expiresAt).toISOString()
  return { ...answered, sentence: `${answered.sentence} A rule was added until ${until}: ${words}` }
}
