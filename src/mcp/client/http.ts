import { setMaxListeners } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { FetchLike, JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import { request, type Agent, type Dispatcher } from "undici"
import { isDeeper } from "../../model/depth.ts"
import { FloodGate, instead } from "./flood.ts"
import { clientLimits } from "./limits.ts"
import { TooLarge } from "./lines.ts"

/** The error code by which a call learns that the stream of its answer ended without one. */
export const streamLost = -32_099

/**
 * `fetch` for the SDK's transports, over kept connections: what it answers has only what those ask of it, no signal
 * keeps a listener, and a message is read up to a size.
 */
export function boundedFetch(agent: Agent, gate: FloodGate): FetchLike {
  return async (url, init = {}) => {
    const signal = init.signal ?? undefined
    if (signal !== undefined) setMaxListeners(0, signal)
    const answer = await request(url, {
      dispatcher: agent,
      method: (init.method ?? "GET") as Dispatcher.HttpMethod,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: (init.body ?? null) as string | null,
      ...(signal === undefined ? {} : { signal }),
    })
    answer.body.on("error", () => {})
    return new Answer(String(url), answer, gate) as unknown as Response
  }
}

/** A transport whose server can neither flood us nor leave a request without an answer. */
export class WatchedTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport["onmessage"]
  readonly #inner: Transport
  readonly #gate: FloodGate
  readonly #unanswered = new Set<unknown>()
  #lastError = ""

  constructor(inner: Transport, gate: FloodGate) {
    this.#inner = inner
    this.#gate = gate
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error) => {
        this.#lastError = error.message
        this.onerror?.(error)
      },
      onmessage: (given, extra) => {
        const message = isDeeper(given, clientLimits.levels) ? instead(given as JSONRPCMessage) : given
        if (message === undefined || !this.#gate.lets(message)) return
        if (!("method" in message)) this.#unanswered.delete(message.id)
        this.onmessage?.(message, extra)
      },
    } satisfies Partial<Transport>)
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream ?? false
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (!("method" in message && "id" in message) || options.onRequestStreamEnd !== undefined) {
      return this.#inner.send(message, options)
    }
    this.#unanswered.add(message.id)
    try {
      await this.#inner.send(message, { ...options, onRequestStreamEnd: () => this.#ended(message.id) })
    } catch (error) {
      this.#unanswered.delete(message.id)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  /** The SDK tells of an error right before it tells that the stream is over. */
  #ended(id: string | number): void {
    const why = this.#lastError.includes("MB in one message") ? new TooLarge(clientLimits.messageBytes).message : ""
    this.#lastError = ""
    if (!this.#unanswered.delete(id)) return
    this.onmessage?.({
      jsonrpc: "2.0",
      id,
      error: { code: streamLost, message: why === "" ? "ended its answer before it was complete" : why },
    })
  }
}

class Answer {
  readonly ok: boolean
  readonly status: number
  readonly statusText = ""
  readonly type = "default"
  readonly redirected = false
  readonly url: string
  readonly headers: Pick<Headers, "get" | "has">
  readonly #raw: Dispatcher.ResponseData
  readonly #gate: FloodGate
  #stream: ReadableStream<Uint8Array> | undefined

  constructor(url: string, raw: Dispatcher.ResponseData, gate: FloodGate) {
    this.url = url
    this.#raw = raw
    this.#gate = gate
    this.status = raw.statusCode
    this.ok = raw.statusCode >= 200 && raw.statusCode < 300
    this.headers = {
      get: (name) => {
        const value = raw.headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value
      },
      has: (name) => raw.headers[name.toLowerCase()] !== undefined,
    }
  }

  get body(): ReadableStream<Uint8Array> {
    this.#stream ??= boundedEvents(this.#raw.body, this.#gate)
    return this.#stream
  }

  async text(): Promise<string> {
    const parts: Buffer[] = []
    let size = 0
    for await (const part of this.#raw.body as AsyncIterable<Buffer>) {
      size += part.length
      if (size > clientLimits.messageBytes) throw new TooLarge(clientLimits.messageBytes)
      parts.push(part)
    }
    return Buffer.concat(parts).toString("utf8")
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}

/** Server-sent events, each up to a size, not too many in a second. */
function boundedEvents(body: Dispatcher.ResponseData["body"], gate: FloodGate): ReadableStream<Uint8Array> {
  const parts = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let sinceEvent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const rest = gate.restMs()
        if (rest > 0) await sleep(rest)
        const { value, done } = await parts.next()
        if (done === true) return controller.close()
        const end = lastEventEnd(value)
        sinceEvent = end === -1 ? sinceEvent + value.length : value.length - end
        if (sinceEvent > clientLimits.messageBytes) {
          body.destroy()
          throw new TooLarge(clientLimits.messageBytes)
        }
        controller.enqueue(value)
      },
      cancel() {
        body.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}

/** After the last empty line; a line end cut in two by the network makes an event seem longer, which does no harm. */
function lastEventEnd(part: Buffer): number {
  return Math.max(part.lastIndexOf("\n\n"), part.lastIndexOf("\r\n\r\n"), part.lastIndexOf("\r\r"))
}
