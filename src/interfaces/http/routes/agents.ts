import { z } from "zod"
import { activities } from "../../../core/organisation.ts"
import { agentEnd as endOf, agentPanel as panelOf } from "./agent-panel.ts"
import { agentEnd, agentPanel, rolePreview } from "./org-page-schemas.ts"
import { agentRolePreview } from "./role-page.ts"
import { endpoint, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { actor, byId, entry, list, resource, text } from "./resource.ts"
import { refuseManagers } from "./tools.ts"

const tag = "Organisation"
const agents = resource("/v1/agents", tag)
const tokens = resource("/v1/tokens", tag)

const listedAgent = z.looseObject({
  id: z.string(),
  activity: z.enum(activities).optional().describe("What it does now. Terminated agents have none."),
  runEnded: z.literal(true).optional().describe("It is idle, and the run that it was made for has ended."),
})

/** Agents, their messages and their tokens. */
export const agentEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/agents",
    summary: "The agents, with their roles, parents, what they have and what they do now.",
    tag,
    scope: "read",
    query: z.object({ terminated: z.enum(["true", "false"]).optional() }),
    answers: { 200: z.object({ items: z.array(listedAgent) }) },
    async handle({ api: { app }, query }) {
      const agents = app.org.listAgents({ includeTerminated: query.terminated === "true" })
      const overview = new Map((await app.society.overview()).map((each) => [each.agentId, each]))
      return {
        items: agents.map((agent) => {
          const view = app.org.view(agent.id)
          const { role, department, level, groups, frozen } = view ?? {}
          const { state: activity, runEnded } = overview.get(agent.id) ?? {}
          return { ...agent, roleName: role?.name, department, level, groups, frozen, activity, runEnded }
        }),
      }
    },
  }),
  agents.create(
    "Creates an agent.",
    z.object({
      id: text.max(200).optional(),
      role: text.max(200),
      department: text.optional(),
      level: z.number().optional(),
      parentId: text.optional(),
      taskId: text.max(200).optional(),
    }),
    ({ api, caller, body }) => api.app.org.createAgent(body, actor(caller)),
  ),
  endpoint({
    method: "get",
    path: "/v1/agents/{id}",
    summary: "An agent with its last hour, what its tools do for it, its remembered answers and its messages.",
    tag,
    scope: "read",
    params: byId,
    answers: { 200: agentPanel },
    handle: ({ api, caller, params }) => panelOf(api, caller, params.id),
  }),
  endpoint({
    method: "get",
    path: "/v1/agents/{id}/end",
    summary: "What terminating an agent would end: agents below it, waiting calls and conversations.",
    tag,
    scope: "read",
    params: byId,
    answers: { 200: agentEnd },
    handle: ({ api, params }) => endOf(api, params.id),
  }),
  endpoint({
    method: "get",
    path: "/v1/agents/{id}/preview",
    summary: "Which tools an agent and those below it would gain and lose with another role. Saves nothing.",
    tag,
    scope: "read",
    params: byId,
    query: z.object({ role: text.max(200) }),
    answers: { 200: rolePreview },
    handle: ({ api, params, query }) => agentRolePreview(api.app, params.id, query.role),
  }),
  agents.change("Gives an agent another role.", z.object({ role: text.max(200) }), ({ api, caller, params, body }) =>
    api.app.org.changeAgentRole(params.id, body.role, actor(caller)),
  ),
  agents.remove(
    "Terminates an agent and all agents below it.",
    async ({ api, caller, params }) => ({ terminated: await api.app.org.terminateAgent(params.id, actor(caller)) }),
    { 200: z.object({ terminated: z.array(z.string()) }) },
  ),
  endpoint({
    method: "get",
    path: "/v1/agents/{id}/messages",
    summary: "The messages that were delivered to an agent, or to people (`user`), oldest first.",
    tag,
    scope: "any",
    params: byId,
    query: z.object({ unread: z.enum(["true", "false"]).optional() }),
    answers: list,
    async handle({ api: { app }, caller, params: { id }, query }) {
      const mayRead = caller.kind === "agent" ? caller.id === id : caller.scopes.includes("read")
      if (!mayRead || (id !== "user" && app.org.findAgent(id) === undefined)) throw notFound("agent", id)
      return { items: await app.org.inbox(id, { unreadOnly: query.unread === "true" }) }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/messages",
    summary: "Sends a message to an agent, which works on it. Its answer comes to `user`, with `about`.",
    tag,
    scope: "call",
    body: z.object({ to: text, payload: z.unknown(), taskId: text.max(200).optional() }),
    answers: { 201: entry },
    async handle({ api: { app }, caller, body }) {
      if (caller.kind === "agent")
        throw new HttpProblem(403, "Agents send messages with the tool send_message.", { code: "use_the_tool" })
      refuseManagers(app, caller, body.to)
      if (app.models.list().length === 0)
        throw new HttpProblem(
          422,
          "No model is configured, so no agent can work on it. Add one to 'models' in quartermaster.yml.",
          { code: "no_model" },
        )
      return app.society.message({ ...body, payload: body.payload, by: caller.id })
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/tokens",
    summary: "The valid tokens of agents, without their secrets.",
    tag,
    scope: "manage",
    answers: list,
    handle: ({ api }) => ({ items: api.app.tokens.list() }),
  }),
  tokens.create(
    "Creates a token for an agent. It is shown only in this answer.",
    z.object({
      agentId: text,
      name: text.max(200).optional(),
      days: z.number().positive().max(3650).optional(),
      me: z.boolean().optional().describe("Answers given with it count as those of whoever creates it."),
    }),
    ({ api, caller, body: { agentId, name, days, me: mine } }) => {
      const lifetimeMs = days === undefined ? undefined : Math.round(days * 24 * 60 * 60_000)
      const person = mine === true ? caller.id : undefined
      return api.app.tokens.create({ agentId, name, lifetimeMs, person }, caller.id)
    },
    z.object({ token: z.string(), entry }),
  ),
  tokens.remove(
    "Revokes a token and ends its waiting calls.",
    async ({ api, caller, params: { id } }) => {
      if ((await api.app.tokens.revoke(id, caller.id)) === undefined) throw notFound("token", id)
    },
    { 204: undefined },
  ),
]
