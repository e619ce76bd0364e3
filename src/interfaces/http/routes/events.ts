import { z } from "zod"
import type { Change } from "../../../store/change-feed.ts"
import type { Conversation } from "../../../core/conversation.ts"
import { answerPieces } from "./answer-pieces.ts"
import type { Caller } from "./caller.ts"
import { maySee as maySeeConversation } from "./chain-json.ts"
import { endpoint, RawReply, type Api } from "./endpoint.ts"

/** A comment keeps proxies from closing a quiet stream. */
const quietMs = 15_000

/** Limit of pieces of output that are held for a reader that is behind. */
const mostOutput = 2000

/** Endings are moved from the journal to the database now and then. While somebody follows, that is soon. */
const settleMs = 200
const followed = new WeakMap<object, { streams: number; stop: () => void }>()

/** Returns the function that ends it. */
function settleSoon(app: Api["app"]): () => void {
  const entry = followed.get(app) ?? { streams: 0, stop: () => {} }
  followed.set(app, entry)
  if (entry.streams++ === 0) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        app.settle().catch(() => {})
      }, settleMs)
    }
    const stops = [app.on("TOOL_CALL_COMPLETED", soon), app.on("TOOL_CALL_FAILED", soon)]
    entry.stop = () => {
      clearTimeout(timer)
      for (const stop of stops) stop()
    }
  }
  return () => {
    if (--entry.streams === 0) entry.stop()
  }
}

/**
 * A feed of store changes, whichever process made them. The id of an event is a cursor: a client that reconnects gets
 * what it missed, or `resync` when that is too much.
 */
export const eventEndpoint = endpoint({
  method: "get",
  path: "/v1/events",
  summary: "A feed of store changes, as server-sent events.",
  description:
    "Events are hello, call, document, message, turn, conversation, audit, output, answer and resync. The id of an event is a cursor: who reconnects with it gets what was missed, or resync when that is too much.",
  tag: "Events",
  scope: "any",
  headers: z.object({ "last-event-id": z.string().optional().describe("Where an earlier stream ended.") }),
  query: z.object({ cursor: z.string().optional().describe("The same, for clients that cannot send headers.") }),
  media: "text/event-stream",
  answers: { 200: z.string() },
  handle({ api, callerNow, headers, query, signal }) {
    const given = headers.get("last-event-id") ?? query.cursor
    const events = eventStream(api, callerNow, given, signal)
    return new RawReply(events, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  },
})

/** Yields events until the client disconnects, the server closes, or the caller's token or session has ended. */
async function* eventStream(
  { app, closing }: Api,
  callerNow: () => Caller,
  given: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let caller = callerNow()
  const feed = app.changes
  let cursor = given ?? (await feed.latest())
  let wake: () => void = () => {}
  let hasNews = true
  const stopListening = feed.listen(() => {
    hasNews = true
    wake()
  })
  const output: string[] = []
  const stopOutput = app.on("TOOL_CALL_OUTPUT", ({ callId, agentId, chunk, peopleOnly }) => {
    if (!mayRead(caller, agentId) || (peopleOnly && !caller.scopes.includes("approve"))) return
    // A reader that is far behind reads the whole output from the result.
    if (output.length >= mostOutput) output.shift()
    output.push(JSON.stringify({ callId, chunk }))
    wake()
  })
  const answers = answerPieces(
    app.conversations.answers,
    (answer) => maySeeChain(caller, answer),
    () => wake(),
  )
  const stopSettling = settleSoon(app)
  const over = AbortSignal.any([signal, closing])
  const onOver = () => wake()
  over.addEventListener("abort", onOver)
  try {
    yield eventText("hello", "{}", cursor)
    while (!over.aborted) {
      const current = callerOrNobody(callerNow)
      if (current === undefined) break
      caller = current
      for (const data of output.splice(0)) yield eventText("output", data)
      for (const piece of answers.take()) yield eventText("answer", JSON.stringify(piece))
      if (hasNews) {
        hasNews = false
        const news = await feed.since(cursor)
        if (news === undefined) {
          cursor = await feed.latest()
          yield eventText("resync", "{}", cursor)
        } else {
          cursor = news.cursor
          const seen = news.changes.filter((change) => maySee(caller, change))
          // Only the last one has the cursor: who loses the connection in between gets all of them again.
          for (const [index, { type, ...data }] of seen.entries())
            yield eventText(type, JSON.stringify(data), index === seen.length - 1 ? cursor : undefined)
        }
      }
      if (hasNews || output.length > 0 || answers.hasMore() || over.aborted) continue
      const isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), quietMs)
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
      })
      if (isQuiet) yield ": still here\n\n"
    }
  } finally {
    over.removeEventListener("abort", onOver)
    stopListening()
    stopOutput()
    answers.stop()
    stopSettling()
  }
}

/** One server-sent event. */
function eventText(event: string, data: string, id?: string): string {
  return `event: ${event}\ndata: ${data}\n${id === undefined ? "" : `id: ${id}\n`}\n`
}

function callerOrNobody(callerNow: () => Caller): Caller | undefined {
  try {
    return callerNow()
  } catch {
    return undefined
  }
}

export function mayRead({ kind, id, scopes }: Caller, agentId: string): boolean {
  return kind === "agent" ? id === agentId : scopes.includes("read")
}

function maySee(caller: Caller, change: Change): boolean {
  if (change.type === "call" || change.type === "audit") return mayRead(caller, change.agentId)
  if (change.type === "message")
    return caller.kind === "agent" ? change.to === caller.id : caller.scopes.includes("read")
  if (caller.kind === "person" && caller.scopes.includes("read")) return true
  const isOfChain = change.type === "turn" || change.type === "conversation"
  return isOfChain && maySeeChain(caller, change)
}

function maySeeChain(caller: Caller, { conversationId, ...rest }: { conversationId: string } & Whose): boolean {
  return maySeeConversation(caller, { id: conversationId, ...rest })
}

type Whose = Pick<Conversation, "agentId" | "startedBy">
