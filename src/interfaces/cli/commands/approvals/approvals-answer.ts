import { setTimeout as sleep } from "node:timers/promises"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { PendingItem, AnswerResult, Answer } from "../../../../core/approval.ts"
import { showPendingItem, revisionProblem } from "./show-pending.ts"
import { parseJsonArgument } from "../../common/arguments.ts"
import type { CliContext } from "../../common/context.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { withPerson } from "../../common/open-app.ts"
import { requireId, ambiguousId, UsageError, wholeNumberFlag } from "../../common/usage.ts"

export interface AnswerFlags {
  revision?: string
}

/**
 * Submits a person's answer to a pending item. With `ruleUntil` it approves and adds the offered rule until then. Returns
 * exit code 1 if it was not accepted.
 */
export function submitAnswer(
  context: CliContext,
  id: string,
  answerFor: (item: PendingItem | undefined) => Answer | Promise<Answer>,
  { revision }: AnswerFlags,
  ruleUntil?: number,
): Promise<number> {
  const expected = wholeNumberFlag("--revision", revision)
  const itemId = requireId(id)
  return withPerson(context, async ({ approvals }, by) => {
    const { result, item } = await send(approvals, itemId, answerFor, by.id, expected, ruleUntil)
    if (item === undefined || !result.ok || context.flags.json) return showAnswerResult(context, result)
    // Whoever typed an id sees what it was about.
    const { answeredText } = await import("../../../../approvals/ask/item-text.ts")
    printResult(context, result, answeredText(item, result.sentence))
    return 0
  })
}

/** Changes the input of a waiting call, then shows the new revision or why it was not changed. */
export function editInput(
  context: CliContext,
  id: string,
  json: string | undefined,
  { revision }: AnswerFlags,
): Promise<number> {
  if (json === undefined)
    throw new UsageError(
      `The new input is missing. Write it as JSON after the id, or give no id: the card offers to edit.`,
    )
  const input = parseJsonArgument(json, "The new input is")
  const expected = wholeNumberFlag("--revision", revision)
  const itemId = requireId(id)
  return withPerson(context, async ({ approvals }, by) => {
    const { result, item } = await send(approvals, itemId, () => ({ kind: "edit", input }), by.id, expected)
    if (!result.ok || item === undefined) return showAnswerResult(context, result)
    // Nobody waits for the call: it is checked when its caller comes back, and the sentence says so.
    if (result.code === "answer_edited_later") return showAnswerResult(context, result)
    printMessage(context, result.sentence)
    const edited = await nextRevision(approvals, item)
    if (edited !== undefined) await showPendingItem(context, edited, { whole: true })
    else
      printResult(
        context,
        result,
        `The call is still being checked. 'qm approvals show ${item.callId}' shows it when it waits again.`,
      )
    return 0
  })
}

function showAnswerResult(context: CliContext, result: AnswerResult): number {
  if (context.flags.json || result.ok) printResult(context, result, result.sentence)
  else printMessage(context, result.sentence)
  return result.ok ? 0 : 1
}

/**
 * Sends an id that matches nothing as it is, because the queue knows who has already answered it. An approval of a
 * changed item must name the revision.
 */
async function send(
  approvals: Quartermaster["approvals"],
  id: string,
  answerFor: (item: PendingItem | undefined) => Answer | Promise<Answer>,
  by: string,
  revision: number | undefined,
  ruleUntil?: number,
) {
  const item = await approvals.show(id)
  const ambiguous = item === undefined ? await ambiguousPendingIds(approvals, id) : []
  if (ambiguous.length > 0) throw ambiguousId(id, ambiguous)
  const answer = await answerFor(item)
  const isYes = answer.kind === "approve" || answer.kind === "release"
  const sentence = item !== undefined && isYes && revision === undefined ? await revisionProblem(item) : undefined
  if (sentence !== undefined) return { result: { ok: false as const, sentence }, item }
  const callId = item?.callId ?? id
  const shown = revision ?? item?.revision
  const result =
    ruleUntil === undefined
      ? await approvals.answer(callId, answer, by, shown)
      : await approvals.approveWithRule(callId, { by, expiresAt: ruleUntil, revision: shown })
  return { result, item }
}

/** The ids of pending items that begin with `id`, if there is more than one. */
export async function ambiguousPendingIds(approvals: Quartermaster["approvals"], id: string): Promise<string[]> {
  const ids = (await approvals.list()).map(({ callId }) => callId).filter((callId) => callId.startsWith(id))
  return ids.length > 1 ? ids : []
}

const timeoutMs = 5000

async function nextRevision(
  approvals: Quartermaster["approvals"],
  before: PendingItem,
): Promise<PendingItem | undefined> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(100)) {
    const now = await approvals.show(before.callId)
    if (now !== undefined && now.revision > before.revision) return now
  }
  return undefined
}
