import type { Conversations } from "../../core/conversation.ts"
import { canBeTakenBack, chainTurns, readForAnswer, withoutTakenBack } from "../context/turns.ts"

/**
 * Takes back what was said while a run worked. It is stored as a turn, in the transaction in which nobody has marked the
 * message as read: the run marks it before it asks the model, in whatever process.
 */
export async function takeBack(
  conversations: Pick<Conversations, "turns" | "post">,
  id: string,
  index: number,
  by: string,
): Promise<"taken" | "read" | "unknown"> {
  const turns = withoutTakenBack(chainTurns(await conversations.turns(id)))
  if (!canBeTakenBack(turns[index])) return "unknown"
  if (index < readForAnswer(turns)) return "read"
  const posted = await conversations.post(id, (state, { read }) =>
    index < read ? undefined : { turn: { kind: "taken-back", body: { index, by } }, state },
  )
  return posted === undefined ? "read" : "taken"
}
