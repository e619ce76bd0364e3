import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { isDeepStrictEqual } from "node:util"
import { chainTurns, unanswered } from "../../../../agents/context/turns.ts"
import type { PendingItem } from "../../../../core/approval.ts"

/** Returns the waiting items in the order of the models' calls: they are checked at once, and come in any order. */
export async function inCallOrder(app: Quartermaster, items: readonly PendingItem[]): Promise<PendingItem[]> {
  const sessions = [...new Set(items.map(({ sessionId }) => sessionId))]
  const ordered = sessions.map(async (sessionId) => {
    const own = items.filter((item) => item.sessionId === sessionId)
    if (own.length === 1) return own
    const calls = unanswered(chainTurns(await app.conversations.turns(sessionId)))?.body.calls ?? []
    const placeOf = ({ tool, input }: PendingItem) => {
      const exact = calls.findIndex((call) => call.name === tool && isDeepStrictEqual(call.input, input))
      const place = exact === -1 ? calls.findIndex(({ name }) => name === tool) : exact
      return place === -1 ? calls.length : place
    }
    return own.toSorted((one, other) => placeOf(one) - placeOf(other))
  })
  return (await Promise.all(ordered)).flat()
}
