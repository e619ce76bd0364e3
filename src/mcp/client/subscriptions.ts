import { failure } from "../../model/ending.ts"
import type { Session } from "./session.ts"

/** Of which resources somebody wants to know changes. It outlives the sessions in which the server is told. */
export class Subscriptions {
  readonly #server: string
  readonly #timeout: number
  readonly #wanted = new Map<string, number>()

  constructor(server: string, timeout: number) {
    this.#server = server
    this.#timeout = timeout
  }

  /** Returns what ends it. `current` is the session by then, if there is one. */
  async add(uri: string, session: Session, current: () => Session | undefined): Promise<() => Promise<void>> {
    if (session.client.getServerCapabilities()?.resources?.subscribe !== true) {
      throw failure(
        `The MCP server ${this.#server} does not tell of changes of its resources. Read them again instead.`,
      )
    }
    const before = this.#wanted.get(uri) ?? 0
    this.#wanted.set(uri, before + 1)
    if (before === 0) {
      await this.#tell(session, uri).catch((error: Error) => {
        this.#release(uri)
        throw failure(`The MCP server ${this.#server} refuses to tell of changes of ${uri}: ${error.message}`, {
          cause: error,
        })
      })
    }
    let over = false
    return async () => {
      if (over) return
      over = true
      const now = current()
      if (this.#release(uri) && now !== undefined) await this.#tell(now, uri).catch(() => {})
    }
  }

  /** Tells a new session of all of them. */
  async tellAll(session: Session): Promise<void> {
    if (session.client.getProtocolEra() === "modern") await session.watch([...this.#wanted.keys()])
    else await Promise.all([...this.#wanted.keys()].map((uri) => this.#tell(session, uri)))
  }

  /** Whether it was the last one for that resource. */
  #release(uri: string): boolean {
    const left = (this.#wanted.get(uri) ?? 1) - 1
    if (left > 0) this.#wanted.set(uri, left)
    else this.#wanted.delete(uri)
    return left === 0
  }

  async #tell(session: Session, uri: string): Promise<void> {
    if (session.client.getProtocolEra() === "modern") return session.watch([...this.#wanted.keys()])
    const options = { timeout: this.#timeout }
    if (this.#wanted.has(uri)) await session.client.subscribeResource({ uri }, options)
    else await session.client.unsubscribeResource({ uri }, options)
  }
}
