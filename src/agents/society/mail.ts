import type { Conversations } from "../../core/conversation.ts"
import type { QuartermasterEvent } from "../../core/events.ts"
import type { Message } from "../../core/organisation.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import type { Messages } from "../../store/port.ts"
import { societyConversation } from "../../core/society-conversation.ts"
import type { ChainMail } from "../chain/mail.ts"
import { currentRun, personOf, treeOf, type DeliveredMessage } from "../context/turns.ts"
import { answeredNow, answerTo, hopsOf, lastWords } from "./answers.ts"
import { checkHops } from "./hops.ts"
import { messageTurn } from "./message-text.ts"

/** The parts of the app that mail needs. */
export interface MailParts {
  messages: Messages
  conversations: Pick<Conversations, "get">
  org: Pick<OrganisationAdmin, "findAgent">
  emit(event: QuartermasterEvent): void
  now(): number
}

/** Limits of messages, and of their characters, delivered at once. */
const most = { messages: 20, characters: 60_000 }

/** The messages of one conversation of an agent. */
export function mailOf(parts: MailParts, conversationId: string, agentId: string): ChainMail {
  const { messages, now } = parts
  return {
    checkHops,
    async take(turns, begins) {
      const unread = await messages.unreadFor(conversationId, { at: now(), limit: most.messages })
      const [first] = unread
      if (first === undefined) return undefined
      // A run works for one person, and in one tree: what a person writes belongs to each.
      const run = currentRun(turns)
      const person = begins ? first.userId : personOf(run)
      const tree = begins ? first.root : treeOf(run, conversationId)
      const belongs = ({ userId, root }: Message) =>
        userId === person && (root === tree || (!begins && root === undefined))
      const taken = upTo(unread.filter(belongs))
      if (taken.length === 0) return undefined
      return {
        turns: taken.map((message, place) => ({ kind: "user", body: messageTurn(message, begins && place === 0) })),
        reads: taken.map(({ id }) => id),
      }
    },
    async answers(turns, ended) {
      const at = now()
      const open = (await messages.openFrom(conversationId)).filter(({ deliverAt }) => deliverAt <= at)
      const hops = 1 + hopsOf(turns)
      const text = lastWords(agentId, turns, ended)
      return Promise.all(
        answeredNow(turns, ended, open).map(async (message) =>
          answerTo(message, { from: agentId, text, at, hops, target: await answerTarget(parts, message) }),
        ),
      )
    },
    sent: (answers) => announce(parts, answers),
  }
}

/** The conversation that takes the answer to a message: where it was sent from, or that of the sender's task. */
export async function answerTarget(
  { conversations, org }: Pick<MailParts, "conversations" | "org">,
  { from, conversationId, taskId }: DeliveredMessage,
): Promise<string | undefined> {
  const sender = org.findAgent(from)
  if (sender === undefined) return undefined
  const origin = conversationId === undefined ? undefined : await conversations.get(conversationId)
  const isOpen = origin !== undefined && origin.agentId === from && origin.state !== "ended"
  return isOpen ? origin.id : societyConversation(from, sender.taskId ?? taskId)
}

export function announce({ emit }: Pick<MailParts, "emit">, messages: readonly Message[]): void {
  for (const { id, from, to, createdAt } of messages)
    emit({ type: "MESSAGE_SENT", at: createdAt, message: id, from, to })
}

function upTo(unread: readonly Message[]): Message[] {
  let left = most.characters
  return unread.filter(({ payload }, place) => {
    left -= JSON.stringify(payload).length
    return place === 0 || left > 0
  })
}
