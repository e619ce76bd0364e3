import type { PendingItem } from "../../model/approval.ts"
import type { Conversation, Conversations, Spent } from "../../model/conversation.ts"
import type { OrganisationAdmin } from "../../model/organisation-admin.ts"
import type { Messages } from "../../model/ports.ts"
import { goesOnByItself } from "../../model/society-conversation.ts"
import { nothingSpent } from "../chain/log.ts"
import type { Models } from "../models/open-models.ts"

/** What an agent does at the moment. */
export interface AgentActivity {
  agentId: string
  role: string
  parentId?: string | undefined
  /**
   * - `working`: its model runs.
   * - `unfinished`: it is in the middle of something, and no process goes on with it: none runs agents, or one is about to.
   * - `unread`: it has messages, and no process works on them yet: none runs agents, or one is about to.
   * - `no_model`: it has messages, and no model is configured that could work on them.
   * - `waiting`: a person has to answer; `questions` says what.
   * - `delegated`: it waits for the answers of the agents in `waitsFor`.
   * - `frozen`, `idle`
   */
  state: "working" | "unfinished" | "unread" | "no_model" | "waiting" | "delegated" | "frozen" | "idle"
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
  isAlive(owner: string): boolean | Promise<boolean>
}

/** What each live agent does, from the store alone, so that it holds for all processes. */
export async function overviewOf({
  org,
  messages,
  conversations,
  models,
  approvals,
  isAlive,
}: OverviewParts): Promise<AgentActivity[]> {
  const begun = await conversations.withPrefix("", ["active", "waiting"])
  const owners = new Map<string, boolean>([["", false]])
  for (const { owner } of begun) if (!owners.has(owner)) owners.set(owner, await isAlive(owner))
  const working = agentsOf(begun.filter(({ owner }) => owners.get(owner) === true))
  const unfinished = agentsOf(begun.filter(goesOnByItself))
  const spent = new Map((await conversations.spentByAgent()).map((each) => [each.agentId, each.spent]))
  const unreadBy = new Map((await messages.unreadCounts()).map((each) => [each.agentId, each.unread]))
  const open = await messages.openByAgent()
  const pending = await Promise.all(
    (await approvals.list()).map(async (item) => ({ item, whose: await whoseOf(item) })),
  )
  return org.listAgents().map((agent): AgentActivity => {
    const questions = pending.filter(({ whose }) => whose.has(agent.id)).map(({ item }) => item)
    const unread = unreadBy.get(agent.id) ?? 0
    const waitsFor = [...new Set(open.filter(({ agentId }) => agentId === agent.id).map(({ to }) => to))]
    const isWorking = working.has(agent.id)
    const view = org.view(agent.id)
    const state =
      view?.frozen !== undefined
        ? "frozen"
        : questions.length > 0
          ? "waiting"
          : isWorking
            ? "working"
            : unfinished.has(agent.id)
              ? "unfinished"
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
      spent: spent.get(agent.id) ?? nothingSpent(),
    }
  })

  /** The agent that asks, and the one in whose conversation it asks. */
  async function whoseOf({ agentId, sessionId }: PendingItem): Promise<ReadonlySet<string>> {
    return new Set([agentId, (await conversations.get(sessionId))?.agentId ?? agentId])
  }
}

function agentsOf(conversations: readonly Conversation[]): ReadonlySet<string> {
  return new Set(conversations.map(({ agentId }) => agentId))
}
