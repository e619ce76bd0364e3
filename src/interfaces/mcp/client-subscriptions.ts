import type { Quartermaster } from "../../app/quartermaster.ts"
import { mcpName, mcpParts } from "../../core/mcp.ts"
import type { Reason } from "../../core/reason.ts"
import { isTicket } from "../../core/result.ts"
import { badParams, resourceNotFound, partError, stillWaitsError } from "./errors.ts"
import { resolveResource } from "./upstream-items.ts"

/** The resource subscriptions of one client. */
export class ClientSubscriptions {
  readonly #app: Quartermaster
  readonly #agentId: string
  readonly #subscriptions = new Map<string, { server: string; uri: string; end: () => Promise<void> }>()

  constructor(app: Quartermaster, agentId: string) {
    this.#app = app
    this.#agentId = agentId
  }

  async add(uri: string): Promise<void> {
    if (this.#subscriptions.has(uri)) return
    const found = resolveResource(this.#app, this.#agentId, uri)
    if (found === undefined) throw resourceNotFound(uri)
    const entry = { ...found, end: async () => {} }
    this.#subscriptions.set(uri, entry)
    try {
      await this.#checkAllowed(found)
      entry.end = await this.#app.mcp.subscribe(found.server, found.uri)
    } catch (error) {
      this.#subscriptions.delete(uri)
      throw error
    }
    // The client unsubscribed meanwhile.
    if (this.#subscriptions.get(uri) !== entry) await entry.end()
  }

  async remove(uri: string): Promise<void> {
    const entry = this.#subscriptions.get(uri)
    this.#subscriptions.delete(uri)
    await entry?.end()
  }

  /** The URIs by which the client knows a changed resource; none when it may no longer read it. */
  urisOf(server: string, uri: string): string[] {
    return [...this.#subscriptions]
      .filter(([listedUri, entry]) => entry.server === server && entry.uri === uri && this.#mayRead(listedUri, server))
      .map(([listedUri]) => listedUri)
  }

  async close(): Promise<void> {
    const subscriptions = [...this.#subscriptions.values()]
    this.#subscriptions.clear()
    await Promise.allSettled(subscriptions.map(({ end }) => end()))
  }

  /** Only agents that may read a resource may subscribe to it. Subscribing is decided and recorded like a call. */
  async #checkAllowed({ server, uri }: { server: string; uri: string }): Promise<void> {
    const [agentId, input] = [this.#agentId, { uri }]
    const read = await this.#app.why({ agentId, tool: mcpName(server, mcpParts.read), input })
    if (read.verdict !== "allow") throw badParams(`You cannot subscribe to ${uri}: ${sentences(read.reasons)}`)
    const tool = mcpName(server, mcpParts.subscribe)
    const ended = await this.#app.call({ agentId, tool, input, anySession: true }, { waitMs: 0 })
    if (isTicket(ended)) throw stillWaitsError(ended)
    if (!ended.success) throw partError(ended, "resource", uri)
  }

  #mayRead(listedUri: string, server: string): boolean {
    return resolveResource(this.#app, this.#agentId, listedUri)?.server === server
  }
}

function sentences(reasons: readonly Reason[]): string {
  return reasons.map(({ sentence }) => sentence).join(" ")
}
