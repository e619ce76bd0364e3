import type { Asking, RawResult } from "./exchange.ts"
import { FailedRequest } from "./failed.ts"
import { clientLimits } from "./limits.ts"
import type { Line } from "./line.ts"
import type { Session } from "./session.ts"

/** Asks a server, and judges by how requests fail whether it may be asked again, and by which connection. */
export class Asker {
  readonly #line: Line
  #wondering = 0

  constructor(line: Line) {
    this.#line = line
  }

  async ask(method: string, params: Record<string, unknown>, asking: Asking): Promise<RawResult> {
    for (let again = true; ; again = false) {
      const session = this.#line.session ?? (await this.#line.connected(asking.signal))
      try {
        const result = await session.ask(method, params, asking)
        this.#line.recovery.succeeded()
        return result
      } catch (error) {
        if (!(error instanceof FailedRequest)) throw error
        this.#judge(session, error)
        if (error.server !== "forgotten" || !again) throw error.ending
      }
    }
  }

  #judge(session: Session, failed: FailedRequest): void {
    if (session !== this.#line.session) return
    if (failed.server === "alive") return this.#line.recovery.succeeded()
    if (failed.server === "silent") return this.#wonder(session, failed)
    if (failed.server === "broken") this.#line.recovery.failed()
    this.#line.drop(session, failed.server === "forgotten" ? undefined : failed.message)
    session.retire()
  }

  /** Only the call may have been slow: the server is asked whether it is there, once for all that wonder. */
  #wonder(session: Session, failed: FailedRequest): void {
    this.#wondering++
    if (this.#wondering > 1) return
    void session.isThere(Math.min(clientLimits.lookMs, this.#line.timeoutMs)).then((there) => {
      const times = this.#wondering
      this.#wondering = 0
      if (session !== this.#line.session) return
      if (there) return this.#line.recovery.succeeded()
      this.#line.recovery.failed(times)
      if (!this.#line.recovery.isOpen) return
      this.#line.drop(session, failed.message)
      this.#line.farewell(session.close())
    })
  }
}
