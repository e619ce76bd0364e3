import { failure } from "../core/ending.ts"
import type { ServerSession } from "./server-session.ts"

/** The subscribed resources of a server. They outlive its sessions. */
export class UpstreamSubscriptions {
  readonly #server: string
  readonly #timeout: number
  readonly #counts = new Map<string, number>()

  constructor(server: string, timeout: number) {
    this.#server = server
    this.#timeout = timeout
  }

  /** Returns a function that ends the subscription. `current` gives the session at that time. */
  async add(
    uri: string,
    session: ServerSession,
    current: () => ServerSession | undefined,
  ): Promise<() => Promise<void>> {
    if (session.client.getServerCapabilities()?.resources?.subscribe !== true) {
      throw failure(`The MCP server ${this.#server} does not report changes of its resources. Read them again instead.`)
    }
    const before = this.#counts.get(uri) ?? 0
    this.#counts.set(uri, before + 1)
    if (before === 0) {
      await this.#sendSubscription(session, uri).catch((error: Error) => {
        this.#release(uri)
        throw failure(`The MCP server ${this.#server} refuses to report changes of ${uri}: ${error.message}`, {
          cause: error,
        })
      })
    }
    let isEnded = false
    return async () => {
      if (isEnded) return
      isEnded = true
      const now = current()
      if (this.#release(uri) && now !== undefined) await this.#sendSubscription(now, uri).catch(() => {})
    }
  }

  /** Subscribes to all of them in a new session. */
  async resubscribe(session: ServerSession): Promise<void> {
    if (session.client.getProtocolEra() === "modern") await session.watchChanges([...this.#counts.keys()])
    else await Promise.all([...this.#counts.keys()].map((uri) => this.#sendSubscription(session, uri)))
  }

  /** Returns whether it was the last subscription to that resource. */
  #release(uri: string): boolean {
    const left = (this.#counts.get(uri) ?? 1) - 1
    if (left > 0) this.#counts.set(uri, left)
    else this.#counts.delete(uri)
    return left === 0
  }

  async #sendSubscription(session: ServerSession, uri: string): Promise<void> {
    if (session.client.getProtocolEra() === "modern") return session.watchChanges([...this.#counts.keys()])
    const options = { timeout: this.#timeout }
    if (this.#counts.has(uri)) await session.client.subscribeResource({ uri }, options)
    else await session.client.unsubscribeResource({ uri }, options)
  }
}
