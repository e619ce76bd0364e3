import { setMaxListeners } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { FetchLike, JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import { request, type Agent, type Dispatcher } from "undici"
import { isValueTooDeep } from "../lib/json-depth.ts"
import { MessageRateLimiter, replaceDeepMessage } from "./message-rate.ts"
import { withResultType } from "./result-type.ts"
import { clientLimits } from "./limits.ts"
import { MessageTooLarge } from "./line-splitter.ts"

/** Our error code for a response stream that ended without a response. */
export const streamLost = -32_099

/**
 * `fetch` for the SDK's transports, with pooled connections and a size limit for messages. Its response has only the
 * members that those transports use.
 */
export function boundedFetch(agent: Agent, limiter: MessageRateLimiter): FetchLike {
  return async (url, init = {}) => {
    const signal = init.signal ?? undefined
    if (signal !== undefined) setMaxListeners(0, signal)
    const response = await request(url, {
      dispatcher: agent,
      method: (init.method ?? "GET") as Dispatcher.HttpMethod,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: (init.body ?? null) as string | null,
      ...(signal === undefined ? {} : { signal }),
    })
    response.body.on("error", () => {})
    return new BoundedResponse(String(url), response, limiter) as unknown as Response
  }
}

/** Wraps a transport: drops floods of messages, and ends requests whose response stream ended. */
export class LimitedTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport["onmessage"]
  readonly #inner: Transport
  readonly #limiter: MessageRateLimiter
  readonly #unanswered = new Set<unknown>()
  #lastError = ""

  constructor(inner: Transport, limiter: MessageRateLimiter) {
    this.#inner = inner
    this.#limiter = limiter
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error) => {
        this.#lastError = error.message
        this.onerror?.(error)
      },
      onmessage: (received, extra) => {
        const message = isValueTooDeep(received, clientLimits.nestingLevels)
          ? replaceDeepMessage(received as JSONRPCMessage)
          : received
        if (message === undefined || !this.#limiter.accepts(message)) return
        if (!("method" in message)) this.#unanswered.delete(message.id)
        this.onmessage?.(withResultType(message), extra)
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
      await this.#inner.send(message, { ...options, onRequestStreamEnd: () => this.#onStreamEnd(message.id) })
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

  /** The SDK reports an error right before it reports the end of the stream. */
  #onStreamEnd(id: string | number): void {
    const why = this.#lastError.includes("MB in one message")
      ? new MessageTooLarge(clientLimits.messageBytes).message
      : ""
    this.#lastError = ""
    if (!this.#unanswered.delete(id)) return
    this.onmessage?.({
      jsonrpc: "2.0",
      id,
      error: { code: streamLost, message: why === "" ? "ended its answer before it was complete" : why },
    })
  }
}

class BoundedResponse {
  readonly ok: boolean
  readonly status: number
  readonly statusText = ""
  readonly type = "default"
  readonly redirected = false
  readonly url: string
  readonly headers: Pick<Headers, "get" | "has">
  readonly #raw: Dispatcher.ResponseData
  readonly #limiter: MessageRateLimiter
  #stream: ReadableStream<Uint8Array> | undefined

  constructor(url: string, raw: Dispatcher.ResponseData, limiter: MessageRateLimiter) {
    this.url = url
    this.#raw = raw
    this.#limiter = limiter
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
    this.#stream ??= boundedEvents(this.#raw.body, this.#limiter)
    return this.#stream
  }

  async text(): Promise<string> {
    const parts: Buffer[] = []
    let size = 0
    for await (const part of this.#raw.body as AsyncIterable<Buffer>) {
      size += part.length
      if (size > clientLimits.messageBytes) throw new MessageTooLarge(clientLimits.messageBytes)
      parts.push(part)
    }
    return Buffer.concat(parts).toString("utf8")
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}

/** Server-sent events with limits on their size and rate. */
function boundedEvents(body: Dispatcher.ResponseData["body"], limiter: MessageRateLimiter): ReadableStream<Uint8Array> {
  const parts = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let sinceEvent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const pause = limiter.pauseMs()
        if (pause > 0) await sleep(pause)
        const { value, done } = await parts.next()
        if (done === true) return controller.close()
        const end = lastEventEnd(value)
        sinceEvent = end === -1 ? sinceEvent + value.length : value.length - end
        if (sinceEvent > clientLimits.messageBytes) {
          body.destroy()
          throw new MessageTooLarge(clientLimits.messageBytes)
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

/** The last empty line. One that is split between two chunks is missed, which only makes an event seem longer. */
function lastEventEnd(part: Buffer): number {
  return Math.max(part.lastIndexOf("\n\n"), part.lastIndexOf("\r\n\r\n"), part.lastIndexOf("\r\r"))
}
