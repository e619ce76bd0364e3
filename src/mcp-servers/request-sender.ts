import type { RequestContext, RawResult } from "./connection-types.ts"
import { FailedRequest } from "./connection-errors.ts"
import { clientLimits } from "./limits.ts"
import type { ReconnectingSession } from "./reconnecting-session.ts"
import type { ServerSession } from "./server-session.ts"

/** Sends requests to a server. How they fail decides whether they are sent again and whether the session is replaced. */
export class RequestSender {
  readonly #session: ReconnectingSession
  #unanswered = 0

  constructor(session: ReconnectingSession) {
    this.#session = session
  }

  async send(method: string, params: Record<string, unknown>, context: RequestContext): Promise<RawResult> {
    for (let isFirst = true; ; isFirst = false) {
      const session = this.#session.session ?? (await this.#session.connect(context.signal))
      try {
        const result = await session.request(method, params, context)
        this.#session.recovery.succeeded()
        return result
      } catch (error) {
        if (!(error instanceof FailedRequest)) throw error
        this.#handleFailure(session, error)
        if (error.serverState !== "forgotten" || !isFirst) throw error.ending
      }
    }
  }

  #handleFailure(session: ServerSession, failed: FailedRequest): void {
    if (session !== this.#session.session) return
    if (failed.serverState === "alive") return this.#session.recovery.succeeded()
    if (failed.serverState === "silent") return this.#checkResponding(session, failed)
    if (failed.serverState === "broken") this.#session.recovery.failed()
    this.#session.drop(session, failed.serverState === "forgotten" ? undefined : failed.message)
    session.closeWhenIdle()
  }

  /** Pings the server, because perhaps only the call was slow. One ping serves all requests that failed meanwhile. */
  #checkResponding(session: ServerSession, failed: FailedRequest): void {
    this.#unanswered++
    if (this.#unanswered > 1) return
    void session.isResponding(Math.min(clientLimits.pingTimeoutMs, this.#session.timeoutMs)).then((isAlive) => {
      const count = this.#unanswered
      this.#unanswered = 0
      if (session !== this.#session.session) return
      if (isAlive) return this.#session.recovery.succeeded()
      this.#session.recovery.failed(count)
      if (!this.#session.recovery.isOpen) return
      this.#session.drop(session, failed.message)
      this.#session.trackClosing(session.close())
    })
  }
}
