import { newId } from "../lib/new-id.ts"
import type { Conversation } from "../core/conversation.ts"
import type { Agent, Message } from "../core/organisation.ts"
import { OrganisationError, type OrganisationAdmin } from "./organisation-admin.ts"
import { resumesAutomatically, societyConversation } from "../core/society-conversation.ts"
import { plainProblems } from "../schema/json-problems.ts"
import type { OrganisationContext } from "./write-document.ts"

type ReadInRun = Awaited<ReturnType<OrganisationContext["conversations"]["readInRun"]>>
type NewMessage = Parameters<OrganisationAdmin["sendMessage"]>[0]

const maxBytes = 1_000_000
const maxDelayMs = 30 * 24 * 3600 * 1000

/** Recipients every agent may write to. Neither of them works on a task. */
const openRecipients = ["root", "user"]

/** Stores a message for its recipient. Agents that work on different tasks cannot write to each other. */
export async function sendMessage(
  context: OrganisationContext,
  { from, to, payload, taskId, delayMs = 0, userId, conversationId: session }: NewMessage,
): Promise<Message> {
  await context.documents.refresh()
  const sender = context.roster.agent(from)
  if (sender !== undefined && context.views.view(from) === undefined) {
    throw new OrganisationError(
      "sender_terminated",
      `Agent '${from}' has ended or has no role, so it cannot send messages.`,
    )
  }
  const recipient = context.views.view(to)?.agent
  if (recipient === undefined && !openRecipients.includes(to)) {
    const sentence = `There is no agent '${to}', or it has ended. Write to a live agent, to root or to user.`
    throw new OrganisationError("unknown_recipient", sentence)
  }
  if (from === to) {
    const sentence = `You are agent '${to}'. A message to yourself would only wake you again: go on, or answer.`
    throw new OrganisationError("own_inbox", sentence)
  }
  if (workOnDifferentTasks(sender, recipient)) {
    const sentence = `Agent '${to}' works on another task, so you cannot write to it. Write to root, or to user.`
    throw new OrganisationError("cross_task_communication_denied", sentence)
  }
  const origin = await openConversation(context, session, from)
  const conversationId = origin?.id
  const read = conversationId === undefined ? [] : await context.conversations.readInRun(conversationId)
  const task = sender?.taskId ?? taskId
  const target =
    to === "user" ? undefined : await targetOf(context, { from, to, taskId: recipient?.taskId ?? task, read })
  const at = context.now()
  const message: Message = {
    id: newId(),
    from,
    to,
    payload: JSON.parse(textOf(payload)) as unknown,
    kind: "message",
    hops: from === "user" ? 0 : 1 + Math.max(0, ...read.map(({ hops }) => hops)),
    ...(task !== undefined && { taskId: task }),
    ...(userId !== undefined && { userId }),
    ...(conversationId !== undefined && { conversationId }),
    ...(target !== undefined && { target }),
    ...(origin !== undefined && { root: origin.root || origin.id }),
    createdAt: at,
    deliverAt: at + checkDelay(delayMs),
    readAt: null,
  }
  await context.messages.insert(message)
  context.emit({ type: "MESSAGE_SENT", at, message: message.id, from, to })
  return message
}

function workOnDifferentTasks(sender: Agent | undefined, recipient: Agent | undefined): boolean {
  const [from, to] = [sender?.taskId, recipient?.taskId]
  return from !== undefined && to !== undefined && from !== to
}

function textOf(payload: unknown): string {
  const problems = payload === undefined ? ["it is missing"] : plainProblems(payload)
  if (problems.length > 0) {
    const sentence = `The payload must be plain JSON: ${problems.join(", ")}.`
    throw new OrganisationError("invalid_payload", sentence, { problems })
  }
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > maxBytes) {
    const sentence = "The payload is longer than 1 MB. Store it with put_artifact and send the reference."
    throw new OrganisationError("payload_too_large", sentence)
  }
  return text
}

function checkDelay(delayMs: number): number {
  if (Number.isSafeInteger(delayMs) && delayMs >= 0 && delayMs <= maxDelayMs) return delayMs
  throw new OrganisationError("invalid_delay", "A delay is a whole number of milliseconds, 30 days at most.")
}

/** The conversation of this id, if it is one of this agent and can take an answer. Callers choose their session's id. */
async function openConversation(
  { conversations }: OrganisationContext,
  id: string | undefined,
  agentId: string,
): Promise<Conversation | undefined> {
  const found = id === undefined ? undefined : await conversations.get(id)
  return found?.agentId === agentId && found.state !== "ended" ? found : undefined
}

/**
 * Finds the conversation for a message. A writer to the sender is answered in the one it wrote from, if that is sure
 * to be read: it goes on by itself, or the sender works for it now. Others are woken in the conversation of their task.
 */
async function targetOf(
  context: OrganisationContext,
  { from, to, taskId, read }: { from: string; to: string; taskId: string | undefined; read: ReadInRun },
): Promise<string> {
  const last = from === "user" ? undefined : await context.messages.lastConversation(to, from)
  const origin = await openConversation(context, last, to)
  const isRead =
    origin !== undefined &&
    (resumesAutomatically(origin) || read.some(({ conversationId }) => conversationId === origin.id))
  return isRead ? origin.id : societyConversation(to, taskId)
}
