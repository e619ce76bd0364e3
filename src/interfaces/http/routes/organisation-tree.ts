import { firstText } from "../../../lib/first-text.ts"
import type { Agent } from "../../../core/organisation.ts"
import { newId } from "../../../lib/new-id.ts"
import type { Api } from "./endpoint.ts"
import type { OrganisationTreeJson, TreeAgentJson } from "./org-page-schemas.ts"

const dayMs = 24 * 60 * 60_000

/** The state of each agent as last sent, so that a client gets only the changes. A cache: without it, all is sent. */
interface Told {
  id: string
  count: number
  agents: Map<string, { text: string; count: number }>
  gone: Map<string, number>
  running?: Promise<TreeAgentJson[]> | undefined
}

const toldBy = new WeakMap<object, Told>()

/** All live agents with what each does, or those that changed after a revision. */
export async function organisationTree(api: Api, since?: string): Promise<OrganisationTreeJson> {
  const told: Told = toldBy.get(api.app) ?? { id: newId(), count: 0, agents: new Map(), gone: new Map() }
  toldBy.set(api.app, told)
  // Clients that ask at the same time are answered by one look.
  told.running ??= treeAgents(api).finally(() => (told.running = undefined))
  const agents = await told.running
  remember(told, agents)
  const [id, after] = since?.split(".") ?? []
  const count = Number(after)
  const whole = id !== told.id || !Number.isInteger(count) || count > told.count
  return {
    revision: `${told.id}.${told.count}`,
    whole,
    agents: whole ? agents : agents.filter((agent) => (told.agents.get(agent.id)?.count ?? 0) > count),
    gone: whole ? [] : [...told.gone].filter(([, at]) => at > count).map(([agentId]) => agentId),
    cost: agents.reduce((sum, { cost }) => sum + cost, 0),
    now: api.now(),
  }
}

function remember(told: Told, agents: readonly TreeAgentJson[]): void {
  const count = told.count + 1
  let changed = false
  const there = new Set<string>()
  for (const agent of agents) {
    there.add(agent.id)
    const text = JSON.stringify(agent)
    if (told.agents.get(agent.id)?.text === text) continue
    told.agents.set(agent.id, { text, count })
    told.gone.delete(agent.id)
    changed = true
  }
  for (const id of told.agents.keys())
    if (!there.has(id)) {
      told.agents.delete(id)
      told.gone.set(id, count)
      changed = true
    }
  if (changed) told.count = count
}

/** Every live agent with what it does now. */
export async function treeAgents({ app, now }: Api): Promise<TreeAgentJson[]> {
  const overview = new Map((await app.society.overview()).map((each) => [each.agentId, each]))
  const until = new Map((await app.approvals.list()).map(({ callId, until }) => [callId, until]))
  const midnight = Math.floor(now() / dayMs) * dayMs
  const costs = new Map((await app.conversations.costSince(midnight)).map(({ agentId, cost }) => [agentId, cost]))
  const running = new Map<string, TreeAgentJson["running"]>()
  for (const { agentId, callId, tool, input, since } of app.running()) {
    const call = { callId, tool, summary: firstText(input), since }
    if (running.get(agentId)?.push(call) === undefined) running.set(agentId, [call])
  }
  return app.org.listAgents().map((agent): TreeAgentJson => {
    const view = app.org.view(agent.id)
    const does = overview.get(agent.id)
    const calls = running.get(agent.id) ?? []
    const idle = does === undefined || does.state === "idle"
    const { frozen } = view ?? {}
    return {
      id: agent.id,
      parentId: agent.parentId,
      role: view?.role.name ?? agent.roleId,
      roleId: agent.roleId,
      roleByAgent: view?.role.madeBy === "agent",
      level: view?.level,
      department: view?.department,
      source: agent.source,
      createdBy: agent.createdBy,
      madeBy: agent.madeBy,
      activity: idle && calls.length > 0 ? "working" : (does?.state ?? "idle"),
      runEnded: does?.runEnded === true,
      waitsFor: [...(does?.waitsFor ?? [])],
      questions: (does?.questions ?? []).map(({ callId, tool, kind }) => ({
        callId,
        tool,
        kind,
        until: until.get(callId) ?? now(),
      })),
      ...(frozen === undefined ? {} : { frozen: { ...frozen } }),
      running: calls,
      unread: does?.unread ?? 0,
      cost: costs.get(agent.id) ?? 0,
    }
  })
}

/** The ids of all agents below one, top down. */
export function agentsBelow(agents: readonly Pick<Agent, "id" | "parentId">[], top: string): string[] {
  const children = new Map<string, string[]>()
  for (const { id, parentId } of agents) {
    if (parentId === undefined) continue
    if (children.get(parentId)?.push(id) === undefined) children.set(parentId, [id])
  }
  const found = new Set([top])
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child)
  return [...found].slice(1)
}
