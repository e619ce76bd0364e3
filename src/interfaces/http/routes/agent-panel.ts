import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AgentView } from "../../../core/organisation.ts"
import { sources } from "../../../org/configured-organisation.ts"
import type { ToolVerdict } from "../../../policy/rule-admin.ts"
import { withDetails } from "./audit-rows.ts"
import type { Caller } from "./caller.ts"
import type { Api } from "./endpoint.ts"
import type { AgentEndJson, AgentPanelJson, GroupVerdictsJson } from "./org-page-schemas.ts"
import { agentsBelow, treeAgents } from "./organisation-tree.ts"
import { notFound } from "./problem.ts"

const hourMs = 60 * 60_000
const columnMs = 2 * 60_000
const mostCalls = 2000

/** Everything about one agent that its side panel shows. */
export async function agentPanel(api: Api, caller: Caller, id: string): Promise<AgentPanelJson> {
  const { app, now } = api
  const all = await treeAgents(api)
  const agent = all.find((each) => each.id === id)
  if (agent === undefined) throw notFound("agent", id)
  const view = app.org.view(id)
  const below = agentsBelow(all, id)
  await app.settle()
  const since = now() - hourMs
  const calls = await app.audit.list({ agentId: id, since, limit: mostCalls })
  const answers = await app.audit.list({ agentId: id, since, withEntry: ["answered", "released", "withheld"], limit: mostCalls }) // prettier-ignore
  const asked = await app.audit.list({ agentId: id, since, withEntry: ["asked", "held"], limit: mostCalls })
  const no = answers.filter(({ code }) => code === "approval_rejected" || code === "result_withheld").length
  const groups = view === undefined ? [] : groupVerdicts(app, view)
  const tools = view === undefined ? [] : app.rules.toolsFor(unfrozen(view))
  const count = (does: ToolVerdict["does"]) => tools.filter((tool) => tool.does === does).length
  const costs = new Map(all.map(({ id, cost }) => [id, cost]))
  return {
    agent,
    rolePrompt: view?.role.rolePrompt ?? "",
    model: view?.role.llmServiceId ?? null,
    lastHour: {
      calls: await app.audit.count({ agentId: id, since }),
      failures: calls.filter(({ status }) => status !== "success").length,
      asked: asked.length + agent.questions.length,
      yes: answers.length - no,
      no,
      minutes: columnsOf(calls, since),
      recent: await withDetails(app, calls.slice(0, 50)),
    },
    costBelow: [id, ...below].reduce((sum, each) => sum + (costs.get(each) ?? 0), 0),
    groups,
    counts: { runs: count("runs"), asks: count("asks"), denied: count("denied") },
    grants: (await app.approvals.grants({ agentId: id })).map((grant) => ({ ...grant })),
    messages: (await app.org.correspondence(id, 100)).map((message) => ({ ...message })),
    below,
    may: {
      freeze: caller.scopes.includes("approve"),
      message: caller.scopes.includes("call"),
      manage: caller.scopes.includes("manage"),
    },
  }
}

function columnsOf(calls: readonly { at: number }[], since: number): number[] {
  const columns = Array.from({ length: hourMs / columnMs }, () => 0)
  for (const { at } of calls) {
    const column = Math.min(columns.length - 1, Math.floor((at - since) / columnMs))
    if (column >= 0) columns[column]!++
  }
  return columns
}

/** An agent as it is without a freeze: that says nothing about its tools. */
export function unfrozen({ frozen: _frozen, ...view }: AgentView): AgentView {
  return view
}

/** Every group with what its tools do for an agent, frozen or not. */
export function groupVerdicts(app: Pick<Quartermaster, "listGroups" | "rules">, view: AgentView): GroupVerdictsJson[] {
  const verdicts = new Map(app.rules.toolsFor(unfrozen(view)).map((verdict) => [verdict.tool.name, verdict]))
  return app.listGroups().map(({ id, description, tools }) => ({
    id,
    description,
    has: view.groups === null || view.groups.includes(id),
    tools: tools.flatMap((name) => {
      const verdict = verdicts.get(name)
      if (verdict === undefined) return []
      const { tool, does, reason } = verdict
      return [{ name, title: tool.title, does, ...(reason === undefined ? {} : { reason: { ...reason } }) }]
    }),
  }))
}

/** Returns the effects of terminating an agent. */
export async function agentEnd({ app }: Api, id: string): Promise<AgentEndJson> {
  const agent = app.org.findAgent(id)
  if (agent?.status !== "active") throw notFound("agent", id)
  const stored = app.org.listAgents().filter(({ source }) => source === sources.store)
  const agents = [id, ...agentsBelow(app.org.listAgents(), id).filter((each) => stored.some((one) => one.id === each))]
  const ending = new Set(agents)
  const calls = (await app.approvals.list()).filter(({ agentId }) => ending.has(agentId))
  const open = await Promise.all(
    agents.map(async (agentId) => (await app.conversations.list({ agentId, limit: 100 })).conversations),
  )
  return {
    agents,
    calls: calls.map(({ callId, agentId, tool }) => ({ callId, agentId, tool })),
    conversations: open
      .flat()
      .filter(({ state }) => state !== "ended")
      .map(({ id, agentId, title }) => ({ id, agentId, title })),
    ...(agent.source === sources.store
      ? {}
      : {
          refused:
            agent.source === sources.builtIn
              ? `Agent '${id}' is built in and cannot be terminated. Freeze it to stop it.`
              : `Agent '${id}' is written in the configuration, under org.agents. Remove it there, or freeze it here.`,
        }),
  }
}
