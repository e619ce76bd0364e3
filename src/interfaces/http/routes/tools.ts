import { z } from "zod"
import { isTicket } from "../../../core/result.ts"
import type { RegisteredTool } from "../../../core/tool.ts"
import type { Caller } from "./caller.ts"
import { endpoint, RawReply, Reply, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { toolInfo, callBody, callResult, explanation, ticket, whyBody, type ToolInfo } from "./tool-schemas.ts"

const tag = "Tools"
const named = z.object({ name: z.string().min(1) })
const byAgent = z.object({ agentId: z.string().min(1).optional() })

/** The agent that a request is about: an agent's token stands for that agent only. */
export function agentOf({ kind, id }: Caller, given: string | undefined): string | undefined {
  if (kind === "person") return given
  if (given === undefined || given === id) return id
  throw new HttpProblem(403, `This is the token of agent ${id}. It cannot act for ${given}.`, {
    code: "other_agent",
    params: { id, agent: given },
  })
}

export const toolEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/tools",
    summary: "The tools of an agent, or all tools there are.",
    tag,
    scope: "any",
    query: byAgent,
    answers: { 200: z.object({ items: z.array(toolInfo) }) },
    handle({ api, caller, query }) {
      const agentId = agentOf(caller, query.agentId)
      const { app } = api
      const tools = agentId === undefined ? app.registry.list() : app.toolsInDialect(agentId)
      const { callStats } = app.registry.getStats()
      const offered = tools.filter(({ exposedAs = "tool" }) => exposedAs === "tool")
      return { items: offered.map((tool) => infoOf(api, tool, callStats[tool.name])) }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/tools/{name}",
    summary: "One tool.",
    tag,
    scope: "any",
    params: named,
    query: byAgent,
    answers: { 200: toolInfo },
    handle({ api, caller, params: { name }, query }) {
      const agentId = agentOf(caller, query.agentId)
      const tool = agentId === undefined ? api.app.findTool(name) : api.app.visibleTool(agentId, name)
      if (tool === undefined) throw notFound("tool", name)
      return infoOf(api, tool, api.app.registry.getStats().callStats[tool.name])
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/tools/{name}/call",
    summary: "Calls a tool. A call that waits for a person longer than `wait` seconds is answered with a ticket.",
    tag,
    scope: "call",
    params: named,
    body: callBody,
    answers: { 200: callResult, 202: ticket },
    async handle({ api: { app }, caller, params: { name }, body, headers }) {
      const { input, wait = 30, key = headers.get("idempotency-key"), agentId: given, ...rest } = body
      const agentId = agentOf(caller, given)
      if (agentId === undefined)
        throw new HttpProblem(400, "Name the agent that makes the call: agentId.", { code: "missing_agent" })
      refuseManagers(app, caller, agentId)
      const ended = await app.call(
        {
          ...rest,
          agentId,
          tool: name,
          input,
          ...(key === undefined ? {} : { key }),
          ...(caller.kind === "person" ? { userId: caller.id } : { tokenId: caller.tokenId }),
        },
        { waitMs: wait * 1000 },
      )
      return isTicket(ended) ? new Reply(ended, 202, { location: `/v1/calls/${ended.callId}` }) : ended
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/calls/{id}",
    summary:
      "How a call ended, or a ticket while it waits. Waits up to `wait` seconds. For its agent, its person and those with the scope call it goes on once it is approved; others only see it.",
    tag,
    scope: "any",
    params: z.object({ id: z.string().min(1) }),
    query: z.object({ wait: z.coerce.number().min(0).max(300).optional() }),
    answers: { 200: callResult, 202: ticket },
    async handle({ api: { app }, caller, params: { id }, query }) {
      await app.settle()
      const entries = await app.audit.show(id)
      const [entry] = entries
      const mayRead = caller.kind === "agent" ? entry?.agentId === caller.id : caller.scopes.includes("read")
      if (entry === undefined || !mayRead) throw notFound("call", id)
      const isTheirs = caller.kind === "agent" || entries.some((each) => "userId" in each && each.userId === caller.id)
      const options = { waitMs: (query.wait ?? 0) * 1000, watch: !isTheirs && !caller.scopes.includes("call") }
      // Without the request's signal: whoever stops listening has not taken the call back.
      const ended = await app.resume(entry.callId, options).catch((error: unknown) => {
        if (!entries.some(({ kind }) => kind === "end")) throw error
        throw new HttpProblem(404, `The result of call ${id} is no longer kept. GET /v1/audit/${id} has its record.`, {
          code: "result_not_kept",
        })
      })
      return isTicket(ended) ? new Reply(ended, 202) : ended
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/why",
    summary: "What would happen to a call, check by check, without making it.",
    tag,
    scope: "any",
    body: whyBody,
    answers: { 200: explanation },
    handle({ api: { app }, caller, body }) {
      const agentId = agentOf(caller, body.agentId)
      if (agentId === undefined) throw new HttpProblem(400, "Name the agent: agentId.", { code: "missing_agent" })
      return app.why({ ...body, agentId })
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/groups",
    summary: "Every group with the names of its tools.",
    tag,
    scope: "read",
    answers: {
      200: z.object({
        items: z.array(
          z.object({
            id: z.string(),
            description: z.string(),
            toolCount: z.number(),
            tools: z.array(z.string()),
            isReserved: z.boolean(),
          }),
        ),
      }),
    },
    handle: ({ api }) => ({ items: api.app.listGroups() }),
  }),
  endpoint({
    method: "get",
    path: "/v1/artifacts/{ref}",
    summary: "A stored artifact, as its agent may read it.",
    tag,
    scope: "any",
    params: z.object({ ref: z.string().min(1) }),
    query: byAgent,
    answers: { 200: undefined },
    async handle({ api: { app }, caller, params: { ref }, query }) {
      const agentId = agentOf(caller, query.agentId) ?? "operator"
      if (caller.kind === "person" && !caller.scopes.includes("read")) throw notFound("artifact", ref)
      const found = await app.artifact(agentId, ref)
      if (found === undefined) throw notFound("artifact", ref)
      // Never as a page of ours: what is in it was written by tools.
      return new RawReply(found.content, {
        "content-type": found.isBinary ? "application/octet-stream" : "text/plain; charset=utf-8",
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
      })
    },
  }),
]

/** Refuses people who would give themselves anything: they would call as an agent that can change the organisation. */
export function refuseManagers(app: Api["app"], caller: Caller, agentId: string): void {
  if (isManagerFor(app, caller, agentId))
    throw new HttpProblem(
      403,
      `${agentId} can change the organisation. Only people who may manage call as it or write to it.`,
      {
        code: "manager_agent",
        params: { agent: agentId },
      },
    )
}

/** Reports whether the agent can change the organisation, and the caller may not. */
export function isManagerFor(app: Api["app"], { kind, scopes }: Caller, agentId: string): boolean {
  if (kind === "agent" || scopes.includes("manage")) return false
  const who = app.org.view(agentId)
  return agentId === "root" || (who !== undefined && (who.groups === null || who.groups.includes("org_management")))
}

type Counted = { count: number; failures: number; p50: number; p95: number } | undefined

function infoOf({ app }: Api, tool: RegisteredTool, counted: Counted): ToolInfo {
  const { permission } = tool
  return {
    name: tool.name,
    wireName: app.wireName(tool.name),
    title: tool.title,
    description: tool.description,
    group: tool.group,
    category: tool.category,
    type: tool.type,
    layer: tool.layer,
    version: tool.version,
    author: tool.author,
    tags: [...tool.tags],
    effect: tool.effect,
    level: permission.level,
    enabled: tool.enabled,
    quarantine: tool.quarantine,
    destructive: tool.destructive === true,
    permission: { ...permission } as Record<string, unknown>,
    inputSchema: tool.input.json,
    outputSchema: tool.output?.json,
    calls: counted?.count ?? 0,
    failures: counted?.failures ?? 0,
    p50: counted?.p50,
    p95: counted?.p95,
  }
}
