import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { clientLimits } from "./limits.ts"

/** The replacement for a message that is nested too deeply: an error for a response, nothing for any other message. */
export function replaceDeepMessage(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if ("method" in message || message.id === undefined) return undefined
  const error = { code: -32_603, message: "its answer is nested too deeply" }
  return { jsonrpc: "2.0", id: message.id, error }
}

/** Limits the messages of a server per second. */
export class MessageRateLimiter {
  #second = 0
  #notifications = 0
  #messages = 0
  readonly #onFlood: () => void
  readonly #now: () => number

  constructor(onFlood: () => void, now: () => number = Date.now) {
    this.#onFlood = onFlood
    this.#now = now
  }

  /** Reports whether a message is handled. Responses always are. */
  accepts(message: object): boolean {
    this.#beginSecond()
    this.#messages++
    if (!("method" in message)) return true
    this.#notifications++
    if (this.#notifications === clientLimits.notificationsPerSecond + 1) this.#onFlood()
    return this.#notifications <= clientLimits.notificationsPerSecond
  }

  /** Returns the time to stop reading the server's output, in milliseconds. */
  pauseMs(): number {
    this.#beginSecond()
    return this.#messages > clientLimits.messagesPerSecond ? this.#second + 1000 - this.#now() : 0
  }

  #beginSecond(): void {
    const now = this.#now()
    if (now - this.#second < 1000 && now >= this.#second) return
    this.#second = now
    this.#notifications = 0
    this.#messages = 0
  }
}
