import { newId } from "../../lib/new-id.ts"
import type { Conversation, Conversations, NewTurn } from "../../core/conversation.ts"
import { isSocietyConversation } from "../../core/society-conversation.ts"
import { chainTurns, withoutTakenBack, type BudgetTurn, type ChainTurn } from "../context/turns.ts"
import { nothingSpent } from "./log.ts"

/** Why a conversation cannot be branched there. */
export type NoBranch = "unknown" | "at_work" | "of_society" | "not_a_message"

/**
 * Makes a conversation with the turns before a message that began a run: the last one, or the one with this index. It
 * has the settings of the first one, and a budget of its own.
 */
export async function branchAt(
  conversations: Conversations,
  id: string,
  { index, by }: { index?: number; by: string },
): Promise<{ branch: Conversation; after: readonly ChainTurn[] } | NoBranch> {
  const found = await conversations.get(id)
  if (found === undefined) return "unknown"
  if (isSocietyConversation(id)) return "of_society"
  if (found.state === "active" || found.state === "waiting") return "at_work"
  const turns = withoutTakenBack(chainTurns(await conversations.turns(id)))
  const begins = (turn: ChainTurn) => turn.kind === "user" && turn.body.begins && turn.body.message === undefined
  const place = index ?? turns.findLastIndex(begins)
  const message = turns[place]
  if (message === undefined || !begins(message)) return "not_a_message"
  const given = { agentId: found.agentId, settings: found.settings, startedBy: by, spent: nothingSpent(), root: "" }
  const owner = "branch"
  const branch = await conversations.create({
    ...given,
    id: newId(),
    state: "idle",
    owner,
    epoch: 0,
    branchOf: { id, index: place },
    title: found.title,
    preview: found.preview,
  })
  await conversations.append(branch.id, { owner, epoch: 0 }, turns.slice(0, place).map(copied), { owner: "" })
  return { branch: (await conversations.get(branch.id))!, after: turns.slice(place) }
}

/** A copy quotes messages and does not owe answers to them; what people gave more of is not given again. */
function copied({ kind, body }: ChainTurn): NewTurn {
  if (kind === "user") return { kind, body: { ...body, message: undefined } }
  if (kind === "budget") {
    const nothingMore: BudgetTurn = { ...body, moreTokens: 0, moreCost: 0, moreCalls: 0 }
    return { kind, body: nothingMore }
  }
  return { kind, body }
}
