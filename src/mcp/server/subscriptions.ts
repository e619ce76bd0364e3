import type { App } from "../../model/app.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import type { Reason } from "../../model/record.ts"
import { isTicket } from "../../model/result.ts"
import { badParams, notFound, partError, stillWaits } from "./errors.ts"
import { serverOf } from "./offers.ts"

/** The resources one client wants to hear of, until it goes. */
export class Subscriptions {
  readonly #app: App
  readonly #agentId: string
  readonly #held = new Map<string, { server: string; uri: string; end: () => Promise<void> }>()

  constructor(app: App, agentId: string) {
    this.#app = app
    this.#agentId = agentId
  }

  async add(uri: string): Promise<void> {
    if (this.#held.has(uri)) return
    const found = serverOf(this.#app, this.#agentId, uri)
    if (found === undefined) throw notFound(uri)
    const entry = { ...found, end: async () => {} }
    this.#held.set(uri, entry)
    try {
      await this.#agreed(found)
      entry.end = await this.#app.mcp.subscribe(found.server, found.uri)
    } catch (error) {
      this.#held.delete(uri)
      throw error
    }
    // It was given up meanwhile.
    if (this.#held.get(uri) !== entry) await entry.end()
  }

  async remove(uri: string): Promise<void> {
    const entry = this.#held.get(uri)
    this.#held.delete(uri)
    await entry?.end()
  }

  /** By which addresses the client knows a resource that has changed; none when it may not read it any more. */
  named(server: string, uri: string): string[] {
    return [...this.#held]
      .filter(([shown, held]) => held.server === server && held.uri === uri && this.#mayRead(shown, server))
      .map(([shown]) => shown)
  }

  async close(): Promise<void> {
    const held = [...this.#held.values()]
    this.#held.clear()
    await Promise.allSettled(held.map(({ end }) => end()))
  }

  /** Who may not read a resource hears nothing of it; that somebody listens is decided and recorded like a call. */
  async #agreed({ server, uri }: { server: string; uri: string }): Promise<void> {
    const [agentId, input] = [this.#agentId, { uri }]
    const read = await this.#app.why({ agentId, tool: mcpName(server, mcpParts.read), input })
    if (read.verdict !== "allow") throw badParams(`${uri} cannot be listened to: ${sentences(read.reasons)}`)
    const tool = mcpName(server, mcpParts.subscribe)
    const ended = await this.#app.submit({ agentId, tool, input, anySession: true }, { waitMs: 0 })
    if (isTicket(ended)) throw stillWaits(ended)
    if (!ended.success) throw partError(ended, "resource", uri)
  }

  #mayRead(shown: string, server: string): boolean {
    return serverOf(this.#app, this.#agentId, shown)?.server === server
  }
}

function sentences(reasons: readonly Reason[]): string {
  return reasons.map(({ sentence }) => sentence).join(" ")
}
