import { z } from "zod"
import { setTimeout as sleep } from "node:timers/promises"
import { errorMessage } from "../../../lib/error-message.ts"
import type { NoBranch } from "../../../agents/chain/branch.ts"
import type { LanguageModel } from "../../../agents/models/port.ts"
import type { Conversation } from "../../../core/conversation.ts"
import { isSocietyConversation } from "../../../core/society-conversation.ts"
import type { Caller } from "./caller.ts"
import { attachFile } from "./chain-files.ts"
import { conversationJson, conversationNow as jsonNow, seenBy } from "./chain-json.ts"
import { chainNews, seen } from "./chain-news.ts"
import { chainSide, modelNow } from "./chain-side.ts"
import {
  attached,
  branchBody,
  branched,
  chainBody,
  chainChange,
  chainEvents,
  chainQuery,
  chainSide as side,
  chainView as view,
  conversation,
  conversationNow,
  fileQuery,
  messageBody,
  said,
  shownTurn,
  unfinished,
} from "./chain-schemas.ts"
import { chainView, imageIn, unfinishedOf, wholeTurn } from "./chain-view.ts"
import { stays } from "./chain-stays.ts"
import { endpoint, Reply, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { agentOf, refuseManagers } from "./tools.ts"

const tag = "Chains"
const text = z.string().min(1)
const byId = z.object({ id: text })
const byIndex = byId.extend({ index: z.coerce.number().int().min(0) })

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
  if (found.state === "ended") throw ended()
  return found
}

function ended(): HttpProblem {
  return new HttpProblem(409, "This conversation has ended. Begin a new one.", { code: "conversation_ended" })
}

function noBranch(why: NoBranch, id: string): HttpProblem {
  if (why === "unknown") return notFound("conversation", id)
  if (why === "at_work") return atWork(id)
  return why === "of_society"
    ? new HttpProblem(409, "This conversation belongs to an agent that works by itself. Write to the agent instead.", {
        code: "branch_of_society",
      })
    : new HttpProblem(409, "Only a message that began a run can be replaced. Leave 'index' out for the last one.", {
        code: "branch_not_a_message",
      })
}

function atWork(id: string): HttpProblem {
  const sentence = `A run works on this conversation. Stop it first: POST /v1/chains/${id}/stop.`
  return new HttpProblem(409, sentence, { code: "conversation_at_work", params: { id } })
}

function refuseBlindModels(model: Pick<LanguageModel, "name" | "seesImages"> | undefined): void {
  if (model?.seesImages === true) return
  const name = model?.name ?? ""
  const sentence = `The model '${name}' does not see pictures. Choose one that does, or attach the picture as a file.`
  throw new HttpProblem(422, sentence, { code: "model_sees_no_images", params: { model: name } })
}

/** A program with an agent's token talks in its conversations; people shape them. */
function requirePerson({ kind }: Caller): void {
  if (kind === "person") return
  throw new HttpProblem(403, "Only people do this. Use a person's token.", { code: "people_only" })
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
function withinLimits({ maxRounds, maxCalls }: { [Name in keyof Limits]?: number }, configured: Limits): Limits {
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
    summary: "The conversations that the caller may see, those used last first.",
    tag,
    scope: "any",
    query: chainQuery,
    answers: { 200: z.object({ items: z.array(conversation), cursor: z.string().optional() }) },
    async handle({ api, caller, query: { agentId, mine, state, search, cursor: place, limit = 50 } }) {
      const filter = seenBy(caller, { agentId, mine: mine === "true" })
      if (filter === undefined) return { items: [] }
      const found = await api.app.conversations.list({ ...filter, shown: state, search, cursor: place, limit })
      const items = await Promise.all(found.conversations.map((each) => conversationJson(api, each)))
      return found.cursor === undefined ? { items } : { items, cursor: found.cursor }
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
    async handle({ api, caller, body: { agentId: given, message, images, ...options } }) {
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
      if (images !== undefined && images.length > 0) refuseBlindModels(chain.model)
      await stored(app, chain.id, chain.run(message, images))
      return new Reply(await jsonNow(api, caller, chain.id), 201, { location: `/v1/chains/${chain.id}` })
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
      const found = await jsonNow(api, caller, id)
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
    body: messageBody,
    answers: { 202: said },
    async handle({ api, caller, params: { id }, body: { message, images = [] } }) {
      const { app } = api
      const { state, ...found } = await toGoOn(api, caller, id)
      if (state === "paused")
        throw new HttpProblem(
          409,
          `This conversation stands still. Go on with it first: POST /v1/chains/${id}/resume.`,
          {
            code: "conversation_paused",
            params: { id },
          },
        )
      if (images.length > 0) refuseBlindModels(modelNow(api, found))
      const told = await app.conversations.tell(id, message, { by: caller.id, userId: personOf(caller), images })
      if (told === undefined) throw ended()
      return new Reply({ ...(await jsonNow(api, caller, id)), index: told.index, queued: !told.begins }, 202)
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/chains/{id}/messages/{index}",
    summary: "Takes back what was said while it works, as long as the model has not read it.",
    tag,
    scope: "call",
    params: byIndex,
    answers: { 204: undefined },
    async handle({ api, caller, params: { id, index } }) {
      requirePerson(caller)
      await toGoOn(api, caller, id)
      const taken = await api.app.conversations.takeBack(id, index, caller.id)
      if (taken === "unknown") throw notFound("message that waits to be read", String(index))
      if (taken === "read")
        throw new HttpProblem(409, "The agent has read this message already. Tell it what you want instead.", {
          code: "already_read",
        })
      return new Reply(undefined, 204)
    },
  }),
  endpoint({
    method: "patch",
    path: "/v1/chains/{id}",
    summary: "Renames it, or gives its next message to another model.",
    tag,
    scope: "call",
    params: byId,
    body: chainChange,
    answers: { 200: conversation },
    async handle({ api, caller, params: { id }, body: { title, model } }) {
      requirePerson(caller)
      const { conversations, models } = api.app
      const found = await toGoOn(api, caller, id)
      if (model !== undefined) {
        if (isSocietyConversation(id))
          throw new HttpProblem(409, "This conversation uses the model of its agent's role. Change that of the role.", {
            code: "model_of_role",
          })
        if (!models.list().some(({ name }) => name === model)) throw notFound("model", model)
        await conversations.useModel(id, model)
      }
      if (title !== undefined) await conversations.rename(id, title.replaceAll(/\s+/g, " ").trim() || found.title)
      return jsonNow(api, caller, id)
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/chains/{id}",
    summary: "Erases its turns. What its calls did stays done, and in the audit log.",
    tag,
    scope: "call",
    params: byId,
    answers: { 204: undefined },
    async handle({ api, caller, params: { id } }) {
      requirePerson(caller)
      const found = await seen(api, caller, id)
      refuseManagers(api.app, caller, found.agentId)
      if (await api.app.conversations.erase(id)) return new Reply(undefined, 204)
      throw atWork(id)
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/view",
    summary: "What a page shows of it: its last turns, or those before a cursor.",
    tag,
    scope: "any",
    params: byId,
    query: z.object({ before: z.string().optional(), limit: z.coerce.number().int().min(1).max(200).optional() }),
    answers: { 200: view },
    handle: ({ api, caller, params: { id }, query }) => chainView(api, caller, id, query),
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/turns/{index}",
    summary: "One of its turns, with its whole texts.",
    tag,
    scope: "any",
    params: byIndex,
    answers: { 200: shownTurn },
    handle: ({ api, caller, params: { id, index } }) => wholeTurn(api, caller, id, index),
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/images/{index}/{place}",
    summary: "The bytes of an image in a turn.",
    tag,
    scope: "any",
    params: byIndex.extend({ place: text }),
    answers: { 200: undefined },
    handle: ({ api, caller, params: { id, index, place } }) => imageIn(api, caller, id, index, place),
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/unfinished",
    summary: "The answer that its model writes now, as far as it has come. Only where this process runs it.",
    tag,
    scope: "any",
    params: byId,
    answers: { 200: z.object({ unfinished: unfinished.optional() }) },
    async handle({ api, caller, params: { id } }) {
      await seen(api, caller, id)
      return { unfinished: unfinishedOf(api, id) }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/chains/{id}/side",
    summary: "What stands beside it: model, mode, budget, context, the agents below, the files that changed.",
    tag,
    scope: "any",
    params: byId,
    answers: { 200: side },
    handle: ({ api, caller, params: { id } }) => chainSide(api, caller, id),
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/branch",
    summary: "A new conversation that goes another way from one of its messages on. Says what stays done.",
    tag,
    scope: "call",
    params: byId,
    body: branchBody,
    answers: { 201: branched },
    async handle({ api, caller, params: { id }, body: { message, index } }) {
      requirePerson(caller)
      const found = await seen(api, caller, id)
      refuseManagers(api.app, caller, found.agentId)
      const made = await api.app.conversations.branch(id, { index, by: caller.id })
      if (typeof made === "string") throw noBranch(made, id)
      const { branch, after } = made
      start((await reopened(api, branch, caller)).run(message))
      const json = { ...(await jsonNow(api, caller, branch.id)), stays: stays(api, branch.agentId, after) }
      return new Reply(json, 201, { location: `/v1/chains/${branch.id}` })
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/files",
    summary:
      "Writes the body as a file into the workspace, by a call of its agent with every check. It is the yes of a caller who may approve.",
    tag,
    scope: "call",
    params: byId,
    query: fileQuery,
    answers: { 201: attached, 202: attached },
    async handle({ api, caller, params: { id }, query: { path, overwrite }, bytes }) {
      requirePerson(caller)
      const found = await toGoOn(api, caller, id)
      const file = { path, overwrites: overwrite === "true", bytes: await bytes() }
      const done = await attachFile(api, caller, found, file)
      return new Reply(done, done.waits ? 202 : 201)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/chains/{id}/resume",
    summary:
      "Goes on with a conversation that waits or stands still. After an error or a stop the model is asked again.",
    tag,
    scope: "call",
    params: byId,
    answers: { 202: conversation },
    async handle({ api, caller, params: { id } }) {
      const found = await toGoOn(api, caller, id)
      start((await reopened(api, found, caller)).resume({ evenStopped: true }))
      return new Reply(await jsonNow(api, caller, id), 202)
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
      return new Reply(await jsonNow(api, caller, id), 202)
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
