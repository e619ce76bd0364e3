import { z } from "zod"
import { setTimeout as sleep } from "node:timers/promises"
import { errorMessage } from "../../../lib/error-message.ts"
import type { Conversation } from "../../../core/conversation.ts"
import type { Caller } from "./caller.ts"
import { chainNews, maySee, seen } from "./chain-news.ts"
import { chainBody, chainEvents, conversation, conversationNow } from "./chain-schemas.ts"
import { endpoint, Reply, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { agentOf, refuseManagers } from "./tools.ts"

const tag = "Chains"
const text = z.string().min(1)
const byId = z.object({ id: text })
/** The conversation as soon as it is stored. Rejects when the run fails before that. */
async function stored(app: Api["app"], id: string, run: Promise<unknown>): Promise<Conversation> {
  start(run)
  for (;;) {
    const found = await app.conversations.get(id)
    if (found !== undefined) return found
    await Promise.race([run, sleep(5)])
  }
}

/** A conversation to go on with. */
async function toGoOn(api: Api, caller: Caller, id: string): Promise<Conversation> {
  const found = await seen(api, caller, id)
  refuseManagers(api.app, caller, found.agentId)
  if (found.state === "ended")
    throw new HttpProblem(409, "This conversation has ended. Begin a new one.", { code: "conversation_ended" })
  return found
}

/** The person for whom a run happens. An agent acts for nobody. */
function personOf({ kind, id }: Caller): string | undefined {
  return kind === "person" ? id : undefined
}

/** The conversation with the model and options that it was begun with, for whoever says something now. */
async function reopened({ app }: Api, { id }: Conversation, caller: Caller) {
  const chain = await app.conversations.open(id, { userId: personOf(caller), wakes: true })
  if (chain === undefined) throw notFound("conversation", id)
  return chain
}

type Limits = Api["app"]["conversations"]["limits"]

/** An agent gives itself no more than the configuration does. */
function withinLimits(
  { maxRounds, maxCalls }: { [Name in keyof Limits]?: number | undefined },
  configured: Limits,
): Limits {
  return {
    maxRounds: Math.min(maxRounds ?? Infinity, configured.maxRounds),
    maxCalls: Math.min(maxCalls ?? Infinity, configured.maxCalls),
  }
}

/** An agent talks to the model of its role: another one may cost more, or send what it reads elsewhere. */
function refuseOtherModels({ org, models }: Api["app"], agentId: string, model: string | undefined): void {
  if (model === undefined) return
  const own = org.view(agentId)?.role.llmServiceId ?? models.list().find(({ isDefault }) => isDefault)?.name
  if (model === own) return
  throw new HttpProblem(
    403,
    "An agent uses the model of its role. Leave 'model' out, or let a person begin the conversation.",
    {
      code: "other_model",
    },
  )
}

/** Runs in the background: the client follows the turns. What goes wrong is in the turns and the log. */
function start(run: Promise<unknown>): void {
  run.catch(() => {})
}

export const chainEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/chains",
    summary: "The conversations that the caller may see, newest first.",
    tag,
    scope: "any",
    query: z.object({ agentId: text.optional(), cursor: z.string().optional() }),
    answers: { 200: z.object({ items: z.array(conversation), cursor: z.string().optional() }) },
    async handle({ api: { app }, caller, query }) {
      const { conversations, cursor } = await app.conversations.list({ ...query, limit: 100 })
      const items = conversations.filter((each) => maySee(caller, each))
      return cursor === undefined ? { items } : { items, cursor }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/chains",
    summary: "Begins a conversation of an agent with a model. Follow its turns.",
    tag,
    scope: "call",
    body: chainBody,
    answers: { 201: conversation },
    async handle({ api, caller, body: { agentId: given, message, ...options } }) {
      const { app } = api
      const agentId = agentOf(caller, given)
      if (agentId === undefined) throw new HttpProblem(400, "Name the agent: agentId.", { code: "missing_agent" })
      if (app.org.view(agentId) === undefined) throw notFound("agent", agentId)
      refuseManagers(app, caller, agentId)
      if (caller.kind === "agent") refuseOtherModels(app, agentId, options.model)
      let chain
      try {
        const limits = caller.kind === "agent" ? withinLimits(options, app.conversations.limits) : {}
        chain = app.chain(agentId, { ...options, ...limits, durable: true, userId: personOf(caller) })
      } catch (error) {
        throw new HttpProblem(422, errorMessage(error), { code: "no_model" })
      }
      const begun = await stored(app, chain.id, chain.run(message))
      return new Reply(begun, 201, { location: `/v1/chains/${chain.id}` })
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}",
    summary: "A conversation.",
    tag,
    scope: "any",
    params: byId,
    answers: { 200: conversationNow },
    async handle({ api, caller, params: { id } }) {
      const found = await seen(api, caller, id)
      const { sent } = await api.app.society.openMessages(id)
      const said = (await api.app.conversations.turns(id)).findLast(({ kind }) => kind === "assistant")
      const { text: content = "" } = Object(said?.body) as { text?: string }
      return { ...found, content, awaits: [...new Set(sent.map(({ to }) => to))] }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/events",
    summary:
      "Its turns, and what the agents do that it gave work to: from an index on, or after a cursor. Waits up to `wait` seconds for the next.",
    tag,
    scope: "any",
    params: byId,
    query: z.object({
      from: z.coerce.number().int().min(0).optional(),
      cursor: z
        .string()
        .regex(/^\d{1,15}\.\d{1,15}\.\d{1,15}$/, "is not a cursor of an earlier answer")
        .optional(),
      wait: z.coerce.number().min(0).max(60).optional(),
    }),
    answers: { 200: chainEvents },
    handle: ({ api, caller, params: { id }, query, signal }) => chainNews(api, caller, id, query, signal),
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/messages",
    summary: "Says something: while it works it steers; afterwards it begins the next run.",
    tag,
    scope: "call",
    params: byId,
    body: z.object({ message: text.max(1_000_000) }),
    answers: { 202: conversation },
    async handle({ api, caller, params: { id }, body }) {
      const { app } = api
      const { state } = await toGoOn(api, caller, id)
      if (state === "paused")
        throw new HttpProblem(
          409,
          `This conversation stands still. Go on with it first: POST /v1/chains/${id}/resume.`,
          {
            code: "conversation_paused",
            params: { id },
          },
        )
      await app.conversations.tell(id, body.message, { by: caller.id, userId: personOf(caller) })
      return new Reply(await app.conversations.get(id), 202)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/resume",
    summary: "Goes on with a conversation that waits or stands still.",
    tag,
    scope: "call",
    params: byId,
    answers: { 202: conversation },
    async handle({ api, caller, params: { id } }) {
      const found = await toGoOn(api, caller, id)
      start((await reopened(api, found, caller)).resume())
      return new Reply(found, 202)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/stop",
    summary: "Ends the current run.",
    tag,
    scope: "call",
    params: byId,
    answers: { 202: conversation },
    async handle({ api, caller, params: { id } }) {
      await seen(api, caller, id)
      await api.app.conversations.stop(id, caller.id)
      return new Reply(await api.app.conversations.get(id), 202)
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/models",
    summary: "The configured models, without their keys.",
    tag,
    scope: "read",
    answers: { 200: z.object({ items: z.array(z.looseObject({ name: z.string() })) }) },
    handle: ({ api }) => ({ items: api.app.models.list() }),
  }),
]
