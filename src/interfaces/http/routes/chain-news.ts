import type { AgentEvent } from "../../../agents/chain/agent-event.ts"
import type { Conversation, Turn } from "../../../core/conversation.ts"
import type { Caller } from "./caller.ts"
import type { Api } from "./endpoint.ts"
import { maySee } from "./chain-json.ts"
import { followChanges } from "../../../store/change-feed.ts"
import { mayRead } from "./events.ts"
import { notFound } from "./problem.ts"

export async function seen({ app }: Api, caller: Caller, id: string): Promise<Conversation> {
  const found = await app.conversations.get(id)
  if (found === undefined || !maySee(caller, found)) throw notFound("conversation", id)
  return found
}

interface Query {
  from?: number
  /** The index of the next turn and the cursor of the agents' events. */
  cursor?: string
  wait?: number
}

/**
 * The turns of a conversation and what the agents below it did, as soon as there is something new, at the latest after
 * `wait` seconds. Who sends no cursor is told all that the agents did, so only a turn ends the waiting.
 */
export async function chainNews(
  api: Api,
  caller: Caller,
  id: string,
  { from = 0, cursor, wait = 0 }: Query,
  signal: AbortSignal,
): Promise<{ items: Turn[]; agents: AgentEvent[]; state: string; cursor: string }> {
  await seen(api, caller, id)
  const [index = "", ...rest] = cursor?.split(".") ?? []
  const first = cursor === undefined ? from : Number(index)
  const after = cursor === undefined ? undefined : rest.join(".")
  const { conversations } = api.app
  const over = AbortSignal.any([signal, api.closing, AbortSignal.timeout(Math.max(1, wait * 1000))])
  const news = followChanges(api.app.changes, over)
  try {
    for (;;) {
      const items = await conversations.turns(id, first)
      const { events, cursor: agentsCursor } = await conversations.agentEvents(id, after)
      const agents = events.filter((event) => maySeeAgent(api, caller, event))
      const isNew = items.length > 0 || (after !== undefined && agents.length > 0)
      if (isNew || wait === 0 || over.aborted) {
        const { state } = await seen(api, caller, id)
        return { items, agents, state, cursor: `${first + items.length}.${agentsCursor}` }
      }
      await news.next()
    }
  } finally {
    news.stop()
  }
}

/** Whoever may read what an agent does; and an agent is told of those below it. */
export function maySeeAgent({ app }: Api, caller: Caller, { agentId }: Pick<AgentEvent, "agentId">): boolean {
  if (mayRead(caller, agentId)) return true
  if (caller.kind !== "agent") return false
  const above = new Set<string>()
  for (let next = app.org.findAgent(agentId)?.parentId; next !== undefined && !above.has(next);) {
    above.add(next)
    next = app.org.findAgent(next)?.parentId
  }
  return above.has(caller.id)
}
