import type { App } from "../../model/app.ts"
import { notFound } from "./errors.ts"
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

  #mayRead(shown: string, server: string): boolean {
    return serverOf(this.#app, this.#agentId, shown)?.server === server
  }
}
