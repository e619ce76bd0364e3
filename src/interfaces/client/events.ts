import type { Change } from "../../store/change-feed.ts"
import { isRefusal, pauseAfter } from "./again.ts"
import type { Connection } from "./connection.ts"

/** Something that was stored or printed. `cursor` is the place to go on from; an event may come twice after a lost connection. */
export type ServerEvent = (
  | Change
  /** The stream is open: what is stored from now on is told. */
  | { type: "hello" }
  /** Too much was missed: read again what you show. */
  | { type: "resync" }
  /** The output of a running call of this server. */
  | { type: "output"; callId: string; chunk: unknown }
) & { cursor: string }

export interface EventsOptions {
  /** The end of an earlier stream. */
  cursor?: string
  /** Ends the stream. */
  signal?: AbortSignal
}

/** Yields events until `signal` ends it. Reconnects with the cursor when the connection is lost; a refusal is thrown. */
export async function* eventsOf(
  connection: Connection,
  { cursor = "", signal }: EventsOptions,
): AsyncGenerator<ServerEvent> {
  let place = cursor
  let isFirst = true
  const hasEnded = () => signal?.aborted === true
  for (let failures = 0; !hasEnded(); failures++) {
    try {
      const headers = { accept: "text/event-stream", ...(place === "" ? {} : { "last-event-id": place }) }
      const { body } = await connection.send("GET", "/v1/events", { headers, signal })
      if (body === null) continue
      for await (const { event, data, id } of messagesIn(body)) {
        failures = 0
        place = id ?? place
        if (event === "hello" && !isFirst) continue
        isFirst = false
        yield { type: event, ...(JSON.parse(data) as object), cursor: place } as ServerEvent
      }
    } catch (error) {
      if (hasEnded()) return
      if (isRefusal(error)) throw error
    }
    await pauseAfter(failures, signal)
  }
}

interface Message {
  event: string
  data: string
  id: string | undefined
}

/** The messages of a stream of server-sent events. */
export async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n")
      rest = blocks.pop() ?? ""
      for (const block of blocks) {
        const fields = fieldsOf(block)
        const data = fields.get("data")
        if (data !== undefined) yield { event: fields.get("event") ?? "message", data, id: fields.get("id") }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    fields.set(name, name === "data" && fields.has("data") ? `${fields.get("data")}\n${value}` : value)
  }
  return fields
}
