import { z } from "zod"
import { totalWaiting } from "../../../core/approval.ts"
import { sessionModes } from "../../../core/organisation.ts"
import { organisationTree as tree, treeQuery } from "./org-page-schemas.ts"
import { organisationTree } from "./organisation-tree.ts"
import { endpoint, Reply, type Endpoint } from "./endpoint.ts"
import { notFound } from "./problem.ts"
import { byId, text } from "./resource.ts"
import { me } from "./schemas.ts"

const tag = "Organisation"

/** The caller, and what holds for everybody: freezes and modes. */
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
        modes: mayRead ? app.modes() : [],
        waiting: mayRead ? totalWaiting(await app.approvals.count()) : 0,
      }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/organisation",
    summary: "All live agents with what each does, waits for and cost today, or those that changed after a revision.",
    tag,
    scope: "read",
    query: treeQuery,
    answers: { 200: tree },
    handle: ({ api, query }) => organisationTree(api, query.since),
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
    path: "/v1/agents/{id}/mode",
    summary: "Sets the mode plan of an agent or the mode edits of one of its sessions, or ends them (ask).",
    tag,
    scope: "approve",
    params: byId,
    body: z.object({ mode: z.enum(sessionModes), sessionId: text.optional() }),
    answers: { 204: undefined },
    async handle({ api, caller, params, body }) {
      await api.app.setMode({ ...body, agentId: params.id, by: caller.id, scopes: caller.scopes })
      return new Reply(undefined, 204)
    },
  }),
]
