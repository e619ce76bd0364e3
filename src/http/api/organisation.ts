import { z } from "zod"
import type { ChangedBy } from "../../model/organisation-admin.ts"
import type { Person } from "../../model/organisation.ts"
import type { Caller } from "./caller.ts"
import { endpoint, Reply, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { me } from "./schemas.ts"

const tag = "Organisation"
const text = z.string().min(1)
const byId = z.object({ id: text })
const entry = z.looseObject({ id: z.string() })
const list = { 200: z.object({ items: z.array(entry) }) }

const roleFields = {
  rolePrompt: z.string().max(100_000).optional(),
  toolGroups: z.array(text).nullable().optional(),
  department: text.optional(),
  level: z.number().optional(),
  dialect: z.enum(["native", "claude", "classic"]).optional(),
  llmServiceId: text.nullable().optional(),
}

const actor = ({ id }: Caller): ChangedBy => ({ kind: "person", id })

function withoutHash({ tokenHash: _hash, ...person }: Person & { source: string }) {
  return person
}

export const organisationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/me",
    summary: "Who is signed in, what they may do, and the state of the server.",
    tag,
    scope: "any",
    answers: { 200: me },
    async handle({ api, caller }) {
      const { kind, id, name, roles, scopes } = caller
      const { app } = api
      const mayRead = scopes.includes("read")
      return {
        kind,
        id,
        name,
        roles,
        scopes,
        now: api.now(),
        version: api.version,
        workspace: mayRead ? api.workspace : "",
        sample: api.isSample(),
        pin: kind === "person" && app.pins.isSet(id),
        frozen: mayRead ? app.frozen() : [],
        waiting: mayRead ? (await app.approvals.list()).length : 0,
      }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/roles",
    summary: "The roles.",
    tag,
    scope: "read",
    answers: list,
    handle: ({ api }) => ({ items: api.app.org.listRoles() }),
  }),
  endpoint({
    method: "post",
    path: "/v1/roles",
    summary: "Creates a role, or returns the one of that name.",
    tag,
    scope: "manage",
    body: z.object({ name: text.max(200), ...roleFields }),
    answers: { 201: entry },
    handle: async ({ api, caller, body }) => (await api.app.org.createRole(body, actor(caller))).role,
  }),
  endpoint({
    method: "patch",
    path: "/v1/roles/{id}",
    summary: "Changes the given fields of a role.",
    tag,
    scope: "manage",
    params: byId,
    body: z.object({ name: text.max(200).optional(), ...roleFields }),
    answers: { 200: entry },
    async handle({ api, caller, params, body }) {
      const { name, ...rest } = body
      const change = name === undefined ? rest : { ...rest, name }
      return (await api.app.org.updateRole(params.id, change, actor(caller))).role
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/roles/{id}",
    summary: "Deletes a role.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 200: entry },
    handle: ({ api, caller, params }) => api.app.org.deleteRole(params.id, actor(caller)),
  }),
  endpoint({
    method: "get",
    path: "/v1/departments",
    summary: "The departments.",
    tag,
    scope: "read",
    answers: list,
    handle: ({ api }) => ({ items: api.app.org.listDepartments() }),
  }),
  endpoint({
    method: "post",
    path: "/v1/departments",
    summary: "Creates a department.",
    tag,
    scope: "manage",
    body: z.object({ id: text.max(200), name: text.max(200).optional() }),
    answers: { 201: entry },
    handle: ({ api, caller, body }) => api.app.org.createDepartment(body, actor(caller)),
  }),
  endpoint({
    method: "patch",
    path: "/v1/departments/{id}",
    summary: "Renames a department.",
    tag,
    scope: "manage",
    params: byId,
    body: z.object({ name: text.max(200) }),
    answers: { 200: entry },
    handle: ({ api, caller, params, body }) => api.app.org.renameDepartment(params.id, body.name, actor(caller)),
  }),
  endpoint({
    method: "delete",
    path: "/v1/departments/{id}",
    summary: "Deletes a department.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 200: entry },
    handle: ({ api, caller, params }) => api.app.org.deleteDepartment(params.id, actor(caller)),
  }),
  endpoint({
    method: "get",
    path: "/v1/agents",
    summary: "The agents, with their roles, parents and what they have.",
    tag,
    scope: "read",
    query: z.object({ terminated: z.enum(["true", "false"]).optional() }),
    answers: list,
    handle({ api: { app }, query }) {
      const agents = app.org.listAgents({ includeTerminated: query.terminated === "true" })
      return {
        items: agents.map((agent) => {
          const view = app.org.view(agent.id)
          const { role, department, level, groups, frozen } = view ?? {}
          return { ...agent, roleName: role?.name, department, level, groups, frozen }
        }),
      }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/agents",
    summary: "Creates an agent.",
    tag,
    scope: "manage",
    body: z.object({
      id: text.max(200).optional(),
      role: text.max(200),
      department: text.optional(),
      level: z.number().optional(),
      parentId: text.optional(),
      taskId: text.max(200).optional(),
    }),
    answers: { 201: entry },
    handle: ({ api, caller, body }) => api.app.org.createAgent(body, actor(caller)),
  }),
  endpoint({
    method: "delete",
    path: "/v1/agents/{id}",
    summary: "Terminates an agent and all agents below it.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 200: z.object({ terminated: z.array(z.string()) }) },
    handle: async ({ api, caller, params }) => ({
      terminated: await api.app.org.terminateAgent(params.id, actor(caller)),
    }),
  }),
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
      return app.society.message({ ...body, payload: body.payload, by: caller.id })
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/people",
    summary: "The people who answer approvals.",
    tag,
    scope: "read",
    answers: list,
    handle: ({ api }) => ({ items: api.app.org.listPeople().map(withoutHash) }),
  }),
  endpoint({
    method: "post",
    path: "/v1/people",
    summary: "Adds a person. Their token is shown only in this answer.",
    tag,
    scope: "manage",
    body: z.object({ id: text.max(200), name: text.max(200).optional(), roles: z.array(text).optional() }),
    answers: { 201: z.object({ person: entry, token: z.string() }) },
    handle: ({ api, caller, body }) => api.app.org.createPerson(body, actor(caller)),
  }),
  endpoint({
    method: "patch",
    path: "/v1/people/{id}",
    summary: "Changes a person.",
    tag,
    scope: "manage",
    params: byId,
    body: z.object({ name: text.max(200).optional(), roles: z.array(text).optional() }),
    answers: { 200: entry },
    handle: ({ api, caller, params, body }) => api.app.org.updatePerson(params.id, body, actor(caller)),
  }),
  endpoint({
    method: "delete",
    path: "/v1/people/{id}",
    summary: "Removes a person. Their token and sessions stop working.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 200: entry },
    handle: ({ api, caller, params }) => api.app.org.deletePerson(params.id, actor(caller)),
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
  endpoint({
    method: "post",
    path: "/v1/tokens",
    summary: "Creates a token for an agent. It is shown only in this answer.",
    tag,
    scope: "manage",
    body: z.object({
      agentId: text,
      name: text.max(200).optional(),
      days: z.number().positive().max(3650).optional(),
      me: z.boolean().optional().describe("Answers given with it count as those of whoever creates it."),
    }),
    answers: { 201: z.object({ token: z.string(), entry }) },
    handle({ api, caller, body: { agentId, name, days, me: mine } }) {
      const lifetimeMs = days === undefined ? undefined : Math.round(days * 24 * 60 * 60_000)
      const person = mine === true ? caller.id : undefined
      return api.app.tokens.create({ agentId, name, lifetimeMs, person }, caller.id)
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/tokens/{id}",
    summary: "Revokes a token and ends its waiting calls.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 204: undefined },
    async handle({ api, caller, params: { id } }) {
      if ((await api.app.tokens.revoke(id, caller.id)) === undefined) throw notFound("token", id)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/freeze",
    summary: "Aborts running calls and denies new ones: of one agent and those below it, or of all.",
    tag,
    scope: "approve",
    body: z.object({ agentId: text.optional(), because: z.string().max(2000).optional() }),
    answers: { 204: undefined },
    async handle({ api: { app }, caller, body }) {
      if (body.agentId !== undefined && app.org.findAgent(body.agentId) === undefined)
        throw notFound("agent", body.agentId)
      await app.freeze({ ...body, by: caller.id })
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/thaw",
    summary: "Ends a freeze.",
    tag,
    scope: "approve",
    body: z.object({ agentId: text.optional() }),
    answers: { 200: z.object({ thawed: z.boolean() }) },
    handle: async ({ api, caller, body }) => ({ thawed: await api.app.thaw({ ...body, by: caller.id }) }),
  }),
  endpoint({
    method: "post",
    path: "/v1/sessions/{id}/mode",
    summary: "Sets the mode of a session: plan, ask or edits.",
    tag,
    scope: "approve",
    params: byId,
    body: z.object({ mode: z.enum(["plan", "ask", "edits"]) }),
    answers: { 204: undefined },
    async handle({ api, caller, params, body }) {
      await api.app.setMode({ sessionId: params.id, mode: body.mode, by: caller.id })
      return new Reply(undefined, 204)
    },
  }),
]
