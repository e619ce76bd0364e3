import { counted } from "../lib/counted.ts"
import { backoffMs, Breaker } from "./breaker.ts"

/** The state of a server that is not connected, and the sentence for the caller. */
interface RetryPlan {
  readonly state: "open" | "waiting" | "resting"
  readonly next: string
}

/** Decides when a failed server is tried again: by the next call, or by a timer if it should stay connected. */
export class Recovery {
  readonly #breaker = new Breaker()
  readonly #now: () => number
  readonly #attempt: () => void
  #staysConnected = false
  #retry: NodeJS.Timeout | undefined

  constructor(now: () => number, attempt: () => void) {
    this.#now = now
    this.#attempt = attempt
  }

  /** True if it is retried without a call that needs it. */
  get staysConnected(): boolean {
    return this.#staysConnected
  }

  /** True if the breaker is open. */
  get isOpen(): boolean {
    return this.#breaker.openUntil(this.#now()) > 0
  }

  stayConnected(): void {
    this.#staysConnected = true
  }

  succeeded(): void {
    this.#breaker.succeeded()
  }

  failed(times = 1): void {
    for (let index = 0; index < times; index++) this.#breaker.failed(this.#now())
  }

  /** Why nothing is sent to the server now. */
  blockedReason(): string | undefined {
    const until = this.#breaker.openUntil(this.#now())
    if (until === 0) return undefined
    const seconds = Math.ceil((until - this.#now()) / 1000)
    return `It failed ${counted(this.#breaker.failures, "time")} in a row and is not tried for ${seconds} s; try again then.`
  }

  scheduleRetry(): RetryPlan {
    const until = this.#breaker.openUntil(this.#now())
    const delay = until > 0 ? until - this.#now() : backoffMs(this.#breaker.failures)
    if (this.#staysConnected) {
      this.cancelRetry()
      this.#retry = setTimeout(this.#attempt, delay).unref()
    }
    if (until === 0) return { state: this.#staysConnected ? "waiting" : "resting", next: "The next call tries again." }
    return { state: "open", next: `It is not tried for ${Math.ceil(delay / 1000)} s; try again then.` }
  }

  cancelRetry(): void {
    clearTimeout(this.#retry)
  }
}
