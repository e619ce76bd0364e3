import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import type { Change } from "../../../store/change-feed.ts"
import type { Conversation } from "../../../core/conversation.ts"
import { answerPieces } from "./answer-pieces.ts"
import type { Caller } from "./caller.ts"
import { maySee as maySeeConversation } from "./chain-json.ts"
import type { Api } from "./endpoint.ts"

/** A comment keeps proxies from closing a quiet stream. */
const quietMs = 15_000

/** How many pieces of output are held for a reader that is behind. */
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
 * What was stored, as it is stored, by whichever process. The id of an event is a cursor: a client that reconnects gets
 * what it missed, or `resync` when that is too much. Whose token or session has ended is told nothing more; `callerNow` then
 * throws.
 */
export async function eventStream(context: Context, { app, closing }: Api, callerNow: () => Caller): Promise<Response> {
  let caller = callerNow()
  const feed = await app.changes()
  const given = context.req.header("last-event-id") ?? context.req.query("cursor")
  return streamSSE(context, async (stream) => {
    let cursor = given ?? feed.latest()
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
    const onClosing = () => wake()
    closing.addEventListener("abort", onClosing)
    stream.onAbort(onClosing)
    try {
      await stream.writeSSE({ event: "hello", data: "{}", id: cursor })
      while (!stream.aborted && !stream.closed && !closing.aborted) {
        const current = callerOrNobody(callerNow)
        if (current === undefined) break
        caller = current
        for (const data of output.splice(0)) await stream.writeSSE({ event: "output", data })
        for (const piece of answers.take()) await stream.writeSSE({ event: "answer", data: JSON.stringify(piece) })
        if (hasNews) {
          hasNews = false
          const news = feed.since(cursor)
          if (news === undefined) {
            cursor = feed.latest()
            await stream.writeSSE({ event: "resync", data: "{}", id: cursor })
          } else {
            cursor = news.cursor
            const seen = news.changes.filter((change) => maySee(caller, change))
            // Only the last one has the cursor: who loses the connection in between gets all of them again.
            for (const [index, { type, ...data }] of seen.entries()) {
              const id = index === seen.length - 1 ? { id: cursor } : {}
              await stream.writeSSE({ event: type, data: JSON.stringify(data), ...id })
            }
          }
        }
        if (hasNews || output.length > 0 || answers.hasMore()) continue
        const isQuiet = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => resolve(true), quietMs)
          wake = () => {
            clearTimeout(timer)
            resolve(false)
          }
        })
        if (isQuiet) await stream.write(": still here\n\n")
      }
    } finally {
      closing.removeEventListener("abort", onClosing)
      stopListening()
      stopOutput()
      answers.stop()
      stopSettling()
    }
  })
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
