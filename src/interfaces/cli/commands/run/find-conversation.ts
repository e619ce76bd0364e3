import type { ConversationAdmin } from "../../../../agents/chain/open-chains.ts"
import type { Conversation } from "../../../../core/conversation.ts"
import { ambiguousId, CannotDo, requireId } from "../../common/usage.ts"

/** The stored conversation with this id. A unique beginning is enough. */
export async function findConversation(conversations: ConversationAdmin, given: string): Promise<Conversation> {
  const id = requireId(given)
  const whole = await conversations.get(id)
  const found = whole === undefined ? await beginningWith(conversations, id) : [whole]
  if (found.length > 1)
    throw ambiguousId(
      id,
      found.map((each) => each.id),
    )
  const [only] = found
  if (only?.state === "ended")
    throw new CannotDo("conversation_ended", `Conversation ${only.id} has ended. Begin a new one.`)
  if (only !== undefined) return only
  throw new CannotDo(
    "conversation_not_found",
    `There is no conversation '${id}'. 'qm chat --resume' shows the newest ones.`,
  )
}

async function beginningWith(conversations: ConversationAdmin, id: string): Promise<Conversation[]> {
  const found: Conversation[] = []
  let cursor: string | undefined
  do {
    const page = await conversations.list({ cursor, limit: 200 })
    found.push(...page.conversations.filter((each) => each.id.startsWith(id)))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}
