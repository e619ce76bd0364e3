import { newId } from "../../lib/new-id.ts"
import type { Message } from "../../core/organisation.ts"
import { currentRun, messagesIn, type ChainTurn, type DeliveredMessage, type EndTurn } from "../context/turns.ts"

/** A message that was delivered and not answered yet. */
export interface OwedAnswer {
  message: DeliveredMessage
  deliveredAt: number
}

/** The messages of a conversation that nobody has answered. Answers ask for none. */
export function owedAnswers(turns: readonly ChainTurn[]): OwedAnswer[] {
  const answered = new Set(turns.flatMap((turn) => (turn.kind === "end" ? (turn.body.answered ?? []) : [])))
  return turns.flatMap((turn) => {
    const message = turn.kind === "user" ? turn.body.message : undefined
    if (message?.kind !== "message" || answered.has(message.id)) return []
    return [{ message, deliveredAt: turn.at }]
  })
}

/**
 * The messages that a run answers when it ends. While messages that the agent sent because of one are open, its answer
 * waits for theirs. Those have more hops, so that no two agents wait for each other.
 */
export function answeredNow(turns: readonly ChainTurn[], ended: EndTurn, open: readonly Message[]): DeliveredMessage[] {
  const isDone = ended.status === "error" || ended.status === "aborted" || ended.error !== undefined
  return owedAnswers(turns)
    .filter(
      ({ message, deliveredAt }) =>
        isDone || !open.some(({ hops, createdAt }) => hops > message.hops && createdAt >= deliveredAt),
    )
    .map(({ message }) => message)
}

/** Returns the last words of an agent in a run: its last text, or why there is none. */
export function lastWords(agentId: string, turns: readonly ChainTurn[], { status, error }: EndTurn): string {
  const text = currentRun(turns)
    .findLast((turn) => turn.kind === "assistant")
    ?.body.text.trim()
  if (status === "aborted") return `Agent ${agentId} was stopped before it had finished.`
  if (error !== undefined) return `Agent ${agentId} could not finish: ${error}`
  return text === undefined || text === "" ? `Agent ${agentId} has finished and said nothing.` : text
}

/** Counts the messages that led to a run. */
export function hopsOf(turns: readonly ChainTurn[]): number {
  return Math.max(0, ...messagesIn(currentRun(turns)).map(({ hops }) => hops))
}

/** An answer to a message. `target` is the conversation that takes it. */
export function answerTo(
  message: DeliveredMessage,
  {
    from,
    text,
    at,
    hops,
    target,
  }: { from: string; text: string; at: number; hops: number; target: string | undefined },
): Message {
  const { taskId, userId, root } = message
  return {
    id: newId(),
    from,
    to: message.from,
    payload: text,
    kind: "answer",
    about: message.id,
    hops,
    ...(taskId !== undefined && { taskId }),
    ...(userId !== undefined && { userId }),
    ...(target !== undefined && { target }),
    ...(root !== undefined && { root }),
    createdAt: at,
    deliverAt: at,
    readAt: null,
  }
}
