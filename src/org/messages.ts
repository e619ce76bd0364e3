import { newId } from "../model/identity.ts"
import type { Agent, Message } from "../model/organisation.ts"
import { OrganisationError, type OrganisationBook } from "../model/organisation-book.ts"
import { plainProblems } from "../model/plain.ts"
import type { Office } from "./office.ts"

type Written = Parameters<OrganisationBook["sendMessage"]>[0]

const mostBytes = 1_000_000
const longestDelayMs = 30 * 24 * 3600 * 1000

/** Who can always be written to. Neither works on a task. */
const always = ["root", "user"]

/** Keeps a message for its recipient. Agents that work on different tasks do not write to each other. */
export async function sendMessage(
  office: Office,
  { from, to, payload, taskId, delayMs = 0 }: Written,
): Promise<Message> {
  await office.documents.refresh()
  const sender = office.roster.agent(from)
  if (sender !== undefined && office.views.view(from) === undefined) {
    throw new OrganisationError("sender_terminated", `Agent '${from}' has ended or has no role, so it writes no more.`)
  }
  const recipient = office.views.view(to)?.agent
  if (recipient === undefined && !always.includes(to)) {
    const sentence = `There is no agent '${to}', or it has ended. Write to an agent that lives, to root or to user.`
    throw new OrganisationError("unknown_recipient", sentence)
  }
  if (worksApart(sender, recipient)) {
    const sentence = `Agent '${to}' works on another task, so you cannot write to it. Write to root, or to user.`
    throw new OrganisationError("cross_task_communication_denied", sentence)
  }
  const at = office.now()
  const message: Message = {
    id: newId(),
    from,
    to,
    payload: JSON.parse(textOf(payload)) as unknown,
    ...taskOf(sender?.taskId ?? taskId),
    createdAt: at,
    deliverAt: at + checkDelay(delayMs),
    readAt: null,
  }
  await office.messages.insert(message)
  office.emit({ type: "MESSAGE_SENT", at, message: message.id, from, to })
  return message
}

function worksApart(sender: Agent | undefined, recipient: Agent | undefined): boolean {
  const [one, other] = [sender?.taskId, recipient?.taskId]
  return one !== undefined && other !== undefined && one !== other
}

function textOf(payload: unknown): string {
  const problems = payload === undefined ? ["it is missing"] : plainProblems(payload)
  if (problems.length > 0) {
    const sentence = `The payload must be plain JSON: ${problems.join(", ")}.`
    throw new OrganisationError("invalid_payload", sentence, { problems })
  }
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > mostBytes) {
    const sentence = "The payload is longer than 1 MB. Store it with put_artifact and send the reference."
    throw new OrganisationError("payload_too_large", sentence)
  }
  return text
}

function checkDelay(delayMs: number): number {
  if (Number.isSafeInteger(delayMs) && delayMs >= 0 && delayMs <= longestDelayMs) return delayMs
  throw new OrganisationError("invalid_delay", "A delay is a whole number of milliseconds, 30 days at most.")
}

function taskOf(taskId: string | undefined): { taskId?: string } {
  return taskId === undefined ? {} : { taskId }
}
