import { agentOfEntries } from "../../common/known-names.ts"
import { setTimeout as sleep } from "node:timers/promises"
import type { CardListener } from "../../../../approvals/ask/dialog.ts"
import type { QueueEnd } from "../../../../approvals/ask/queue.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import type { AnswerResult, PendingItem } from "../../../../core/approval.ts"
import type { CliContext } from "../../common/context.ts"
import { endingText } from "./ending-text.ts"
import { isAttended } from "../../common/open-app.ts"
import { parseTimeAhead } from "../../common/time-text.ts"

/** Reports whether waiting items can be shown and answered here: a person is at the terminal, and nothing is piped. */
export function canAnswerHere({ io, flags }: CliContext): boolean {
  return !flags.json && io.stdout.isTTY && isAttended(io)
}

export interface AnswerHere {
  signal: AbortSignal
  interrupt(): void
  /** Receives the text that the person types at a card and that is no answer. */
  listener?: CardListener
  /** Selects and orders the shown part of the queue; all of it as it is if left out. */
  select?: (items: readonly PendingItem[]) => readonly PendingItem[] | Promise<readonly PendingItem[]>
  once?: boolean
  looksAgain?: boolean
  idleText?: string
  note?: string
}

/** Shows what waits in this terminal and takes the answers of the person there. */
export async function answerHere(
  context: CliContext,
  app: Quartermaster,
  by: string,
  { signal, interrupt, listener, select = (items) => items, once = false, looksAgain, idleText, note }: AnswerHere,
): Promise<QueueEnd> {
  const { io, flags } = context
  const { approvals } = app
  const agent = agentOfEntries(context, app)
  const { answerQueue } = await import("../../../../approvals/ask/queue.ts")
  return answerQueue({
    terminal: { input: io.stdin, output: io.stderr, env: io.env },
    queue: {
      list: async () => select(await approvals.list(agent === undefined ? {} : { agentId: agent })),
      answer: async (item, answer) =>
        withEnding(await approvals.answer(item.callId, answer, by, item.revision), item, app),
      // Only the user of this machine adds rules.
      ...(flags.as === undefined && { rules: { durationProblem, approve: approveWithRule } }),
    },
    signal,
    onInterrupt: interrupt,
    listener,
    isAttended: () => isAttended(io),
    once,
    looksAgain,
    idleText,
    note,
  })

  async function approveWithRule(item: PendingItem, duration: string): Promise<AnswerResult> {
    const { callId, revision } = item
    const result = await approvals.approveWithRule(callId, { by, expiresAt: ruleEnd(duration), revision })
    return withEnding(result, item, app)
  }
}

/** Time that somebody who answered waits to see the call end, or begin where others of its session wait too. */
const endingMs = 1000
const beginningMs = 300

/** The result of an answer, and how the call ended where that is known at once, or what it still waits for. */
async function withEnding(
  result: AnswerResult,
  item: PendingItem,
  { audit, findTool, approvals }: Pick<Quartermaster, "audit" | "findTool" | "approvals">,
): Promise<AnswerResult> {
  if (!result.ok || !result.done) return result
  const isOther = ({ callId, sessionId }: PendingItem) => callId !== item.callId && sessionId === item.sessionId
  const others = (await approvals.list()).filter(isOther).length
  const answered = Date.now()
  for (; Date.now() < answered + endingMs; await sleep(50)) {
    const entries = await audit.show(item.callId)
    const end = entries.find((entry) => entry.kind === "end")
    const asks = findTool(item.tool)?.exposedAs === "loop"
    if (end !== undefined) return { ...result, sentence: `${result.sentence} ${endingText(item, end, asks)}` }
    const isHeldBack = others > 0 && !entries.some(({ kind }) => kind === "start")
    if (isHeldBack && Date.now() > answered + beginningMs)
      return { ...result, sentence: `${result.sentence} ${heldBackText(others)}` }
  }
  return result
}

/** Calls with effects of one answer of a model run when all its questions are answered. */
function heldBackText(others: number): string {
  return others === 1
    ? "It runs when the other one is answered too."
    : `It runs when the other ${others} are answered too.`
}

function ruleEnd(duration: string): number {
  return parseTimeAhead(duration, Date.now(), "A rule")
}

function durationProblem(duration: string): string | undefined {
  try {
    ruleEnd(duration)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}
