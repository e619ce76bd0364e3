import type { ConversationFilter, ListedConversation } from "../../../core/conversation.ts"
import { isSocietyConversation, societyPrefix } from "../../../core/society-conversation.ts"
import type { Caller } from "./caller.ts"
import type { ConversationJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"
import { notFound } from "./problem.ts"

/**
 * A conversation is seen by its agent, by the person who began it, and by people who may manage. Messages of several people
 * reach one of the society, so it is not opened by who wrote first.
 */
export function maySee(
  { kind, id, scopes }: Caller,
  conversation: { id: string; agentId: string; startedBy: string },
): boolean {
  if (scopes.includes("manage")) return true
  if (kind === "agent") return conversation.agentId === id
  return conversation.startedBy === id && !isSocietyConversation(conversation.id)
}

/** The filter that leaves the conversations which the caller may see. Undefined when there are none. */
export function seenBy(
  { kind, id, scopes }: Caller,
  { agentId, mine }: { agentId?: string; mine: boolean },
): ConversationFilter | undefined {
  if (kind === "agent") return agentId === undefined || agentId === id ? { agentId: id } : undefined
  if (scopes.includes("manage") && !mine) return { agentId }
  return { agentId, startedBy: id, notPrefix: societyPrefix }
}

/** The conversation, where the caller may see it. */
export async function listed({ app }: Api, caller: Caller, id: string): Promise<ListedConversation> {
  const [found] = (await app.conversations.list({ id, limit: 1 })).conversations
  if (found === undefined || !maySee(caller, found)) throw notFound("conversation", id)
  return found
}

export async function conversationJson({ app }: Api, found: ListedConversation): Promise<ConversationJson> {
  return { ...found, elsewhere: await app.conversations.runsElsewhere(found) }
}

/** The conversation as it is now. */
export async function conversationNow(api: Api, caller: Caller, id: string): Promise<ConversationJson> {
  return conversationJson(api, await listed(api, caller, id))
}
