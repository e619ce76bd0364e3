import type { PendingItem } from "../../model/approval.ts"
import type { Conversation, Conversations, Spent } from "../../model/conversation.ts"
import type { OrganisationAdmin } from "../../model/organisation-admin.ts"
import type { Messages } from "../../model/ports.ts"
import { nothingSpent } from "../chain/log.ts"
import type { Models } from "../models/open-models.ts"

/** What an agent does at the moment. */
export interface AgentActivity {
  agentId: string
  role: string
  parentId?: string | undefined
  /**
   * - `working`: its model runs.
   * - `unread`: it has messages, and no process works on them yet: none runs agents, or one is about to.
   * - `no_model`: it has messages, and no model is configured that could work on them.
   * - `waiting`: a person has to answer; `questions` says what.
   * - `delegated`: it waits for the answers of the agents in `waitsFor`.
   * - `frozen`, `idle`
   */
  state: "working" | "unread" | "no_model" | "waiting" | "delegated" | "frozen" | "idle"
  questions: readonly Pick<PendingItem, "callId" | "tool" | "kind">[]
  waitsFor: readonly string[]
  unread: number
  /** Of all its conversations that are stored. */
  spent: Spent
}

interface OverviewParts {
  org: OrganisationAdmin
  messages: Messages
  conversations: Conversations
  models: Pick<Models, "list">
  approvals: { list(): Promise<readonly PendingItem[]> }
}

/** What each live agent does, from the store alone, so that it holds for all processes. */
export async function overviewOf({
  org,
  messages,
  conversations,
  models,
  approvals,
}: OverviewParts): Promise<AgentActivity[]> {
  const byAgent = new Map<string, Conversation[]>()
  const all = await conversations.withPrefix("", ["active", "waiting", "idle", "paused", "ended"])
  for (const each of all) byAgent.set(each.agentId, [...(byAgent.get(each.agentId) ?? []), each])
  const pending = await approvals.list()
  const rows = org.listAgents().map(async (agent): Promise<AgentActivity> => {
    const own = byAgent.get(agent.id) ?? []
    const ids = new Set(own.map(({ id }) => id))
    const open = own.filter(({ state }) => state !== "ended")
    const sent = (await Promise.all(open.map(({ id }) => messages.openFrom(id)))).flat()
    const questions = pending.filter(({ agentId, sessionId }) => agentId === agent.id || ids.has(sessionId))
    const unread = (await messages.unreadTo(agent.id)).filter(({ target }) => target !== undefined).length
    const waitsFor = [...new Set(sent.map(({ to }) => to))]
    const isWorking = open.some(({ state }) => state === "active")
    const view = org.view(agent.id)
    const state =
      view?.frozen !== undefined
        ? "frozen"
        : questions.length > 0
          ? "waiting"
          : isWorking
            ? "working"
            : unread > 0
              ? models.list().length === 0
                ? "no_model"
                : "unread"
              : waitsFor.length > 0
                ? "delegated"
                : "idle"
    return {
      agentId: agent.id,
      role: view?.role.name ?? agent.roleId,
      parentId: agent.parentId,
      state,
      questions: questions.map(({ callId, tool, kind }) => ({ callId, tool, kind })),
      waitsFor,
      unread,
      spent: sumOf(own),
    }
  })
  return Promise.all(rows)
}

function sumOf(conversations: readonly Conversation[]): Spent {
  const sum = nothingSpent()
  for (const { spent } of conversations) for (const key of Object.keys(sum) as (keyof Spent)[]) sum[key] += spent[key]
  return sum
}
