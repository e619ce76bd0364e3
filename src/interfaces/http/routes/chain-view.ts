import { budgetText } from "../../../agents/chain/budget.ts"
import { answersIn, callRows, type CallRow } from "../../../agents/chain/call-rows.ts"
import { onOneLine } from "../../../agents/context/outline.ts"
import {
  canBeTakenBack,
  chainTurns,
  hintsBy,
  readForAnswer,
  saidText,
  unnamedPerson,
  withoutTakenBack,
  type ChainTurn,
} from "../../../agents/context/turns.ts"
import type { ListedConversation } from "../../../core/conversation.ts"
import type { Caller } from "./caller.ts"
import { conversationJson, listed } from "./chain-json.ts"
import { maySeeAgent } from "./chain-news.ts"
import type { CallRowJson, ChainViewJson, ShownTurnJson, UnfinishedJson } from "./chain-schemas.ts"
import { RawReply, type Api } from "./endpoint.ts"
import { namesOf } from "./gone.ts"
import { notFound } from "./problem.ts"
import { isManagerFor } from "./tools.ts"

/** The most characters of a text in a list of turns. */
const longest = 20_000

/** Turns that are read beyond a page, so that its last answer has its results. */
const beyond = 40

/** Returns the part of a conversation that a page shows: the last turns, or those before a cursor. */
export async function chainView(
  api: Api,
  caller: Caller,
  id: string,
  { before, limit = 60 }: { before?: string; limit?: number },
): Promise<ChainViewJson> {
  const { conversations } = api.app
  const found = await listed(api, caller, id)
  const end = before === undefined ? found.length : Math.min(found.length, readPlace(before))
  const from = Math.max(0, end - limit)
  const read = await conversations.turns(id, from, before === undefined ? undefined : end + beyond)
  const turns = withoutTakenBack(chainTurns(read))
  const queued = queuedOf(found, turns)
  const isQueued = new Set<ChainTurn>(queued)
  const shown = turns.filter((turn) => (before === undefined || turn.index < end) && !isQueued.has(turn))
  const items = await shownTurns(api, found, turns, shown)
  const [own, below, branches] = await Promise.all([
    waitingBeside(api, found, items),
    waitingBelow(api, caller, id),
    conversations.list({ branchOf: id }),
  ])
  const unfinished = unfinishedOf(api, id)
  return {
    conversation: await conversationJson(api, found),
    items,
    ...(from > 0 && { before: String(from) }),
    length: found.length,
    ...(unfinished !== undefined && { unfinished }),
    queued: queued.map(({ index, at, body: { text, by } }) => ({ index, at, by, text: text.slice(0, longest) })),
    waitingBelow: [...own, ...below],
    branches: branches.conversations.map((branch) => ({
      id: branch.id,
      title: branch.title,
      index: branch.branchOf?.index ?? 0,
    })),
    may: mayDo(api, caller, found),
  }
}

/** Returns the caller's rights in a conversation that they see. */
function mayDo({ app }: Api, caller: Caller, { agentId, state }: ListedConversation): ChainViewJson["may"] {
  const manages = isManagerFor(app, caller, agentId)
  const mayCall = caller.scopes.includes("call") && !manages
  const isGone = state === "ended" || app.org.view(agentId) === undefined
  return {
    say: mayCall && !isGone,
    manage: mayCall && caller.kind === "person",
    ...(!mayCall ? { whyNot: manages ? "managers" : "scope" } : isGone ? { whyNot: "gone" } : {}),
  }
}

/** One turn with its whole texts. */
export async function wholeTurn(api: Api, caller: Caller, id: string, index: number): Promise<ShownTurnJson> {
  const found = await listed(api, caller, id)
  const turns = chainTurns(await api.app.conversations.turns(id, index, index + beyond))
  const wanted = turns.filter((turn) => turn.index === index)
  const [item] = await shownTurns(api, found, turns, wanted, Infinity)
  if (item === undefined) throw notFound("turn", String(index))
  return item
}

/** The bytes of an image in a turn: one of a message by its number, or that of a call as `call-` and its place. */
export async function imageIn(api: Api, caller: Caller, id: string, index: number, place: string): Promise<RawReply> {
  await listed(api, caller, id)
  const turns = chainTurns(await api.app.conversations.turns(id, index, index + beyond))
  const turn = turns.find((each) => each.index === index)
  const results = turns.find(({ kind }) => kind === "results")
  const ofCall = /^call-(\d{1,4})$/.exec(place)?.[1]
  const image =
    ofCall === undefined
      ? turn?.kind === "user" && turn.body.images?.[Number(place)]
      : turn?.kind === "assistant" && results?.kind === "results" && results.body.results[Number(ofCall)]?.image
  if (!image || !/^image\/(?:png|jpeg|gif|webp)$/.test(image.mimeType)) throw notFound("image", `${index}/${place}`)
  return new RawReply(Buffer.from(image.data, "base64"), {
    "content-type": image.mimeType,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=3600",
  })
}

/** The answer that is being written in this process. */
export function unfinishedOf({ app }: Api, id: string): UnfinishedJson | undefined {
  const answer = app.conversations.answers.get(id)
  if (answer === undefined) return undefined
  const { turn, attempt, interrupted, text, reasoning } = answer
  return { turn, attempt, interrupted, text, reasoning }
}

/** Returns items that wait in the conversation and are no call of these turns: a budget, a file a person attached. */
async function waitingBeside(
  { app }: Api,
  { id, agentId, shown }: ListedConversation,
  items: readonly ShownTurnJson[],
): Promise<ChainViewJson["waitingBelow"]> {
  if (shown !== "waiting") return []
  const cards = new Set(items.flatMap((item) => (item.kind === "answer" ? item.calls.map(({ card }) => card) : [])))
  return (await app.approvals.list({ agentId }))
    .filter(({ callId, sessionId }) => sessionId === id && !cards.has(callId))
    .map(({ callId, tool, createdAt }) => ({
      card: callId,
      agentId,
      conversationId: id,
      depth: 0,
      tool,
      at: createdAt,
      task: "",
    }))
}

/** Calls of the agents below that wait for people, as far as the caller may see them. */
async function waitingBelow(api: Api, caller: Caller, id: string): Promise<ChainViewJson["waitingBelow"]> {
  const { events } = await api.app.conversations.agentEvents(id)
  const waiting = events.filter((event) => event.type === "waiting" && maySeeAgent(api, caller, event))
  return Promise.all(
    waiting.map(async ({ callId = "", agentId, conversationId, depth, tools: [tool = ""] = [], at }) => {
      const task = await taskOf(api, conversationId)
      return { card: callId, agentId, conversationId, depth, tool, at, task }
    }),
  )
}

/** The beginning of what the agent of a conversation was asked last. */
export async function taskOf({ app }: Api, conversationId: string): Promise<string> {
  const asked = chainTurns(await app.conversations.turns(conversationId)).findLast(
    (turn) => turn.kind === "user" && turn.body.begins,
  )
  return asked?.kind === "user" ? onOneLine(saidText(asked.body)).slice(0, 160) : ""
}

function readPlace(cursor: string): number {
  const place = Number(cursor)
  return Number.isSafeInteger(place) && place > 0 ? place : 0
}

/** Returns messages sent while a run works that the model was not given yet. */
function queuedOf({ state, read }: ListedConversation, turns: readonly ChainTurn[]) {
  if (state !== "active" && state !== "waiting") return []
  const known = Math.max(read, readForAnswer(turns))
  return turns.filter(canBeTakenBack).filter(({ index }) => index >= known)
}

async function shownTurns(
  api: Api,
  { id, agentId }: ListedConversation,
  turns: readonly ChainTurn[],
  shown: readonly ChainTurn[],
  most = longest,
): Promise<ShownTurnJson[]> {
  const rows = await callRows(api.app, { id, agentId }, answersIn(turns, new Set(shown)), most === Infinity)
  return shown.flatMap((turn) => {
    const calls = (rows.get(turn.index) ?? []).map((row) => rowJson(api, id, turn.index, row))
    return shownTurn(api, id, turn, turns, { rows: calls, most }) ?? []
  })
}

function imageHref(id: string, turn: number, place: string): string {
  return `/v1/chains/${encodeURIComponent(id)}/images/${turn}/${place}`
}

function rowJson({ app }: Api, id: string, turn: number, { imageType: mimeType, ...given }: CallRow): CallRowJson {
  const row = given.by === undefined ? given : { ...given, by: nameOf(app, given.by) }
  if (mimeType === undefined) return row
  return { ...row, image: { mimeType, href: imageHref(id, turn, `call-${row.place}`) } }
}

function shownTurn(
  { app }: Api,
  id: string,
  turn: ChainTurn,
  turns: readonly ChainTurn[],
  { rows, most }: { rows: CallRowJson[]; most: number },
): ShownTurnJson | undefined {
  const { index, at } = turn
  const note = (what: Extract<ShownTurnJson, { kind: "note" }>["note"], text = "", by?: string): ShownTurnJson => ({
    kind: "note",
    index,
    at,
    note: what,
    text: text.slice(0, most),
    ...(by !== undefined && { by, name: nameOf(app, by) }),
  })
  switch (turn.kind) {
    case "user": {
      const { by, begins, message, images = [] } = turn.body
      const text = saidText(turn.body)
      const from = message !== undefined ? "agent" : by === hintsBy ? "hint" : "person"
      return {
        kind: "message",
        index,
        at,
        by: message?.from ?? by,
        name: nameOf(app, message?.from ?? by),
        from,
        begins,
        text: text.slice(0, most),
        ...(text.length > most && { cut: text.length }),
        images: images.map(({ mimeType }, place) => ({ mimeType, href: imageHref(id, index, `${place}`) })),
      }
    }
    case "assistant": {
      const { text, content, model, finishReason, cost, read = index, interrupted = false } = turn.body
      const reasoning = content.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
      const length = Math.max(text.length, reasoning.length)
      return {
        kind: "answer",
        index,
        at,
        model,
        finishReason,
        interrupted,
        asked: read,
        calls: rows,
        text: text.slice(0, most),
        reasoning: reasoning.slice(0, most),
        ...(length > most && { cut: length }),
        ...(cost !== undefined && { cost }),
      }
    }
    case "end": {
      const { status, error } = turn.body
      if (status !== "aborted") return note(status === "error" ? "failed" : status, error)
      const stop = turns.findLast((each) => each.kind === "stop" && each.index < index)
      return note("stopped", error, stop?.kind === "stop" ? stop.body.by : undefined)
    }
    case "retry":
      return note("retried", "", turn.body.by)
    case "summary":
      return note("summary", turn.body.text)
    case "references":
      return note("references")
    case "reflection":
      return turn.body.verdict === "continue" ? undefined : note("reflection", turn.body.assessment)
    case "budget": {
      const { moreTokens, moreCost, moreCalls = 0 } = turn.body
      return note("budget", budgetText(given({ maxTokens: moreTokens, maxCost: moreCost, maxCalls: moreCalls })))
    }
    case "hops":
      return note("hops", turn.body.more === null ? "" : String(turn.body.more))
    default:
      return undefined
  }
}

/** Without what nobody gave. */
function given(more: Record<"maxTokens" | "maxCost" | "maxCalls", number>) {
  return Object.fromEntries(Object.entries(more).filter(([, value]) => value > 0))
}

function nameOf(app: Api["app"], by: string): string {
  return by === unnamedPerson ? "" : namesOf(app, by)
}
