import type { QueueEnd } from "../approval-ui/queue.ts"
import type { App } from "../model/app.ts"
import { errorMessage } from "../lib/error-message.ts"
import type { AnswerResult, PendingItem } from "../model/approval.ts"
import type { CliContext } from "./context.ts"
import { isAttended } from "./open-app.ts"
import { parseTimeAhead } from "./time-text.ts"

/** Whether what waits can be shown and answered here: a person is at the terminal, and nothing is piped. */
export function canAnswerHere({ io, flags }: CliContext): boolean {
  return !flags.json && io.stdout.isTTY && isAttended(io)
}

export interface AnswerHere {
  signal: AbortSignal
  interrupt(): void
  /** What of the queue is shown; everything if left out. */
  filter?: (item: PendingItem) => boolean
  once?: boolean
  idleText?: string
}

/** Shows what waits in this terminal and takes the answers of the person there. */
export async function answerHere(
  context: CliContext,
  { approvals }: App,
  by: string,
  { signal, interrupt, filter = () => true, once = false, idleText }: AnswerHere,
): Promise<QueueEnd> {
  const { io, flags } = context
  const { answerQueue } = await import("../approval-ui/queue.ts")
  return answerQueue({
    terminal: { input: io.stdin, output: io.stderr, env: io.env },
    queue: {
      list: async () =>
        (await approvals.list(flags.agent === undefined ? {} : { agentId: flags.agent })).filter(filter),
      answer: (item, answer) => approvals.answer(item.callId, answer, by, item.revision),
      // Only the user of this machine adds rules.
      ...(flags.as === undefined && { rules: { durationProblem, approve: approveWithRule } }),
    },
    signal,
    onInterrupt: interrupt,
    isAttended: () => isAttended(io),
    once,
    idleText,
  })

  function approveWithRule({ callId, revision }: PendingItem, duration: string): Promise<AnswerResult> {
    return approvals.approveWithRule(callId, { by, expiresAt: ruleEnd(duration), revision })
  }
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
