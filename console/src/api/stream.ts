import { messagesIn } from "../../../src/interfaces/client/events.ts"
import { events, problemOf } from "./http.ts"

/*
 * One event stream per browser: HTTP/1.1 allows six connections, so the seventh tab would hang. The tab that holds the
 * lock listens to the server and tells the others. Where there are no locks (plain HTTP on another host), each tab
 * listens for itself.
 */

export const eventNames = [
  "call",
  "document",
  "message",
  "turn",
  "answer",
  "conversation",
  "audit",
  "output",
  "resync",
] as const
export type EventName = (typeof eventNames)[number]

export interface StreamEvent {
  readonly name: EventName
  readonly data: Readonly<Record<string, unknown>>
}

/** `since` is when the connection was lost, by this browser's clock; `next` when it is tried again. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly since: number; readonly next: number }

type Told =
  | { readonly kind: "event"; readonly event: StreamEvent }
  | { readonly kind: "connection"; readonly connection: Connection }
  | { readonly kind: "ask" }
  | { readonly kind: "retry" }

export interface Stream {
  readonly connection: () => Connection
  readonly onConnection: (listener: () => void) => () => void
  readonly onEvent: (listener: (event: StreamEvent) => void) => () => void
  readonly retry: () => void
}

const waits = [1000, 2000, 4000, 8000]

export function openStream(path: string): Stream {
  const channel = new BroadcastChannel("quartermaster-events")
  const connectionListeners = new Set<() => void>()
  const eventListeners = new Set<(event: StreamEvent) => void>()
  let connection: Connection = { state: "connecting" }
  let leads = false
  let current: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const tell = (told: Told) => channel.postMessage(told)
  const setConnection = (next: Connection) => {
    connection = next
    connectionListeners.forEach((listener) => listener())
  }
  const publish = (next: Connection) => {
    setConnection(next)
    tell({ kind: "connection", connection: next })
  }
  const hear = (event: StreamEvent) => eventListeners.forEach((listener) => listener(event))

  async function listen() {
    clearTimeout(timer)
    current?.abort()
    const { signal } = (current = new AbortController())
    try {
      const body = await events(path, signal)
      failures = 0
      readEverything()
      publish({ state: "live" })
      for await (const { event, data } of messagesIn(body!))
        if (isEventName(event)) hearAndTell({ name: event, data: readData(data) })
    } catch (error) {
      // The session has ended: whoever reads again is told so.
      if (problemOf(error).status === 401) readEverything()
    }
    if (signal.aborted) return
    const wait = waits[Math.min(failures++, waits.length - 1)] ?? 8000
    const since = connection.state === "lost" ? connection.since : Date.now()
    publish({ state: "lost", since, next: Date.now() + wait })
    timer = setTimeout(() => void listen(), wait)
  }
  /** Reads everything again: events before the stream was open may have been missed. */
  function readEverything() {
    hearAndTell({ name: "resync", data: {} })
  }
  function hearAndTell(event: StreamEvent) {
    hear(event)
    tell({ kind: "event", event })
  }
  const lead = () => {
    leads = true
    void listen()
    return new Promise<never>(() => {})
  }

  channel.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if (data.kind === "event") hear(data.event)
    else if (data.kind === "connection" && !leads) setConnection(data.connection)
    else if (data.kind === "ask" && leads) tell({ kind: "connection", connection })
    else if (data.kind === "retry" && leads) void listen()
  })

  if ("locks" in navigator) void navigator.locks.request("quartermaster-events", lead)
  else void lead()
  tell({ kind: "ask" })

  return {
    connection: () => connection,
    onConnection: (listener) => {
      connectionListeners.add(listener)
      return () => connectionListeners.delete(listener)
    },
    onEvent: (listener) => {
      eventListeners.add(listener)
      return () => eventListeners.delete(listener)
    },
    retry: () => (leads ? void listen() : tell({ kind: "retry" })),
  }
}

const isEventName = (name: string): name is EventName => (eventNames as readonly string[]).includes(name)

function readData(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
