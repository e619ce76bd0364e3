import { isSocietyConversation } from "../../core/society-conversation.ts"
import type { Conversations } from "../../core/conversation.ts"
import type { Message } from "../../core/organisation.ts"
import { ClaimLost, storedLog } from "../chain/log.ts"
import type { DeliveredMessage } from "../context/turns.ts"
import { answerTo, owedAnswers } from "./answers.ts"
import { announce, answerTarget, type MailParts } from "./mail.ts"

interface CloseParts extends MailParts {
  conversations: Conversations
  owner: string
  isAlive(owner: string): boolean | Promise<boolean>
}

/** Ends the conversations of an agent that has ended, and answers for it whoever still waits for an answer. */
export async function closeAgent(parts: CloseParts, agentId: string): Promise<void> {
  const { conversations, messages, now } = parts
  for (let cursor: string | undefined; ;) {
    const page = await conversations.list({ agentId, states: ["active", "waiting", "idle", "paused"], cursor })
    for (const { id } of page.conversations.filter((conversation) => isSocietyConversation(conversation.id)))
      await closeConversation(parts, id, agentId)
    cursor = page.cursor
    if (cursor === undefined) break
  }
  const unread = (await messages.unreadTo(agentId)).filter(({ target }) => target !== undefined)
  const answers = await answersFor(
    parts,
    agentId,
    unread.filter(({ kind }) => kind === "message"),
  )
  await messages.settle(
    unread.map(({ id }) => id),
    answers,
    now(),
  )
  announce(parts, answers)
}

async function closeConversation(parts: CloseParts, id: string, agentId: string): Promise<void> {
  const given = { id, agentId, startedBy: agentId, settings: () => ({}), resumableMs: 0 }
  const log = storedLog({ ...parts, isActive: () => true, claimedHere: new Map() }, given)
  try {
    await log.claim(true)
    const owed = owedAnswers(log.turns).map(({ message }) => message)
    const sends = await answersFor(parts, agentId, owed)
    const body = { status: "aborted", answered: sends.flatMap(({ about }) => about ?? []) }
    await log.append([{ kind: "end", body }], { state: "ended", sends })
    announce(parts, sends)
  } catch (error) {
    // The process that works on it ends it.
    if (!(error instanceof ClaimLost)) throw error
  }
}

function answersFor(parts: CloseParts, agentId: string, owed: readonly DeliveredMessage[]): Promise<Message[]> {
  const text = `Agent ${agentId} has ended, so it does not answer.`
  return Promise.all(
    owed.map(async (message) => {
      const target = await answerTarget(parts, message)
      return answerTo(message, { from: agentId, text, at: parts.now(), hops: message.hops + 1, target })
    }),
  )
}
