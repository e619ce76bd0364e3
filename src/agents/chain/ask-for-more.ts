import { isTicket, type Ticket } from "../../core/result.ts"
import { requestOf, type CallContext } from "./call-context.ts"

/** A question to people about a conversation, or about the whole tree below it. */
interface Question {
  conversation: { id: string; agentId: string }
  tool: string
  input: unknown
  /** The same for all who ask the same, so that people are asked once. Undefined for a conversation that is not stored. */
  key: string | undefined
}

/** The outcome of the question. `result` is undefined when a person said no, or nobody answered in time. */
type Asked =
  | { waiting: Ticket }
  | { callId: string; result: unknown }
  /** Whoever asked was stopped, and took the question back. */
  | { takenBack: string }
  | { failed: string }

/**
 * Asks people whether a conversation may go on. Nothing in the call is the asker's own but the person for whom it works:
 * the others of its tree, who may work on other tasks, join the same call.
 */
export async function askForMore(
  { conversation: { id, agentId }, tool, input, key }: Question,
  context: CallContext,
): Promise<Asked> {
  const { app, waitMs, detach, clock } = context
  const person = context.person()
  const ownKey = key === undefined || person === undefined ? key : `${key}/${person}`
  const about = { agentId, sessionId: id, taskId: undefined, holdResult: undefined, fromLoop: true }
  const asked = { ...requestOf(context, tool, input, ownKey), ...about }
  const [ended] = await app.callMany([asked], { waitMs, detach, clock })
  if (ended === undefined) return { failed: "The question was not asked." }
  if (isTicket(ended)) return { waiting: ended }
  const { callId } = ended
  if (ended.success) return { callId, result: ended.result }
  if (ended.code === "approval_rejected" || ended.code === "approval_expired") return { callId, result: undefined }
  return ended.code === "aborted" ? { takenBack: callId } : { failed: ended.error }
}
