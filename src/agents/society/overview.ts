import type { PendingItem } from "../../core/approval.ts"
import type { Conversation, Conversations, Spent } from "../../core/conversation.ts"
import type { Activity, Agent } from "../../core/organisation.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import type { Messages } from "../../store/port.ts"
import { resumesAutomatically } from "../../core/society-conversation.ts"
import { nothingSpent } from "../chain/log.ts"
import type { Models } from "../models/open-models.ts"

/** The present activity of an agent. */
export interface AgentActivity {
  agentId: string
  role: string
  parentId?: string
  state: Activity
  /** For an idle agent that another agent made: the run that it worked for is over. Whoever resumes that run finds it. */
  runEnded?: true
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

/** Returns the activity of each live agent, from the store alone, so that it holds for all processes. */
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
  const unfinished = agentsOf(begun.filter(resumesAutomatically))
  const spent = new Map((await conversations.spentByAgent()).map((each) => [each.agentId, each.spent]))
  const unreadBy = new Map((await messages.unreadCounts()).map((each) => [each.agentId, each.unread]))
  const open = await messages.openByAgent()
  const pending = await Promise.all(
    (await approvals.list()).map(async (item) => ({ item, whose: await whoseOf(item) })),
  )
  const found = org.listAgents().map((agent): AgentActivity => {
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
  const busy = new Set(found.filter(({ state }) => state !== "idle").map(({ agentId }) => agentId))
  return Promise.all(
    found.map(async (each): Promise<AgentActivity> => ((await isRunOver(each)) ? { ...each, runEnded: true } : each)),
  )

  /** A run is over when whoever began it has nothing left to do, nor anybody between them. */
  async function isRunOver({ agentId, state }: AgentActivity): Promise<boolean> {
    const agent = org.findAgent(agentId)
    if (state !== "idle" || agent?.madeBy !== "agent" || ancestorsOf(agent).some((id) => busy.has(id))) return false
    const [last] = (await conversations.list({ agentId, limit: 1 })).conversations
    if (last === undefined || last.root === "") return false
    const beginner = await conversations.get(last.root)
    return beginner === undefined || !busy.has(beginner.agentId)
  }

  function ancestorsOf({ id }: Agent): readonly string[] {
    return (org.view(id)?.ancestors ?? []).map(({ agent }) => agent.id)
  }

  /** The agent that asks, and the one in whose conversation it asks. */
  async function whoseOf({ agentId, sessionId }: PendingItem): Promise<ReadonlySet<string>> {
    return new Set([agentId, (await conversations.get(sessionId))?.agentId ?? agentId])
  }
}

function agentsOf(conversations: readonly Conversation[]): ReadonlySet<string> {
  return new Set(conversations.map(({ agentId }) => agentId))
}
