import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { clientLimits } from "./limits.ts"

/** What stands for a message that is nested too deeply to be walked over: an error for an answer, nothing for all else. */
export function instead(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if ("method" in message || message.id === undefined) return undefined
  const error = { code: -32_603, message: "its answer is nested too deeply" }
  return { jsonrpc: "2.0", id: message.id, error }
}

/** Counts what a server sends in each second. */
export class FloodGate {
  #second = 0
  #notes = 0
  #messages = 0
  readonly #onFlood: () => void
  readonly #now: () => number

  constructor(onFlood: () => void, now: () => number = Date.now) {
    this.#onFlood = onFlood
    this.#now = now
  }

  /** Whether a message is looked at. Answers always are. */
  lets(message: object): boolean {
    this.#turn()
    this.#messages++
    if (!("method" in message)) return true
    this.#notes++
    if (this.#notes === clientLimits.notesPerSecond + 1) this.#onFlood()
    return this.#notes <= clientLimits.notesPerSecond
  }

  /** How long to leave the server's output unread, in milliseconds. */
  restMs(): number {
    this.#turn()
    return this.#messages > clientLimits.messagesPerSecond ? this.#second + 1000 - this.#now() : 0
  }

  #turn(): void {
    const now = this.#now()
    if (now - this.#second < 1000 && now >= this.#second) return
    this.#second = now
    this.#notes = 0
    this.#messages = 0
  }
}
