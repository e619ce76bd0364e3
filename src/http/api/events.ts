import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import type { Change } from "../../model/changes.ts"
import type { Caller } from "./caller.ts"
import type { Api } from "./endpoint.ts"

/** A comment keeps proxies from closing a quiet stream. */
const quietMs = 15_000

/**
 * What was stored, as it is stored, by whichever process. The id of an event is a cursor: a client that reconnects gets
 * what it missed, or `resync` when that is too much.
 */
export async function eventStream(context: Context, { app, closing }: Api, caller: Caller): Promise<Response> {
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
      output.push(JSON.stringify({ callId, chunk }))
      wake()
    })
    const onClosing = () => wake()
    closing.addEventListener("abort", onClosing)
    try {
      await stream.writeSSE({ event: "hello", data: "{}", id: cursor })
      while (!stream.aborted && !stream.closed && !closing.aborted) {
        for (const data of output.splice(0)) await stream.writeSSE({ event: "output", data })
        if (hasNews) {
          hasNews = false
          const news = feed.since(cursor)
          if (news === undefined) {
            cursor = feed.latest()
            await stream.writeSSE({ event: "resync", data: "{}", id: cursor })
          } else {
            cursor = news.cursor
            const seen = news.changes.filter((change) => maySee(caller, change))
            for (const { type, ...data } of seen)
              await stream.writeSSE({ event: type, data: JSON.stringify(data), id: cursor })
          }
        }
        if (hasNews || output.length > 0) continue
        const isQuiet = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => resolve(true), quietMs)
          wake = () => {
            clearTimeout(timer)
            resolve(false)
          }
          stream.onAbort(wake)
        })
        if (isQuiet) await stream.write(": still here\n\n")
      }
    } finally {
      closing.removeEventListener("abort", onClosing)
      stopListening()
      stopOutput()
    }
  })
}

function mayRead({ kind, id, scopes }: Caller, agentId: string): boolean {
  return kind === "agent" ? id === agentId : scopes.includes("read")
}

function maySee(caller: Caller, change: Change): boolean {
  if (change.type === "call" || change.type === "audit") return mayRead(caller, change.agentId)
  if (change.type === "message")
    return caller.kind === "agent" ? change.to === caller.id : caller.scopes.includes("read")
  return caller.kind === "person" && caller.scopes.includes("read")
}
