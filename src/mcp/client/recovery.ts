import { backoffMs, Breaker } from "./breaker.ts"

/** What becomes of a server that is not connected, and what whoever wanted it is told. */
interface Rest {
  readonly state: "open" | "waiting" | "resting"
  readonly next: string
}

/** When a server that failed is tried again: by the next who needs it, or by ourselves where it is to be kept connected. */
export class Recovery {
  readonly #breaker = new Breaker()
  readonly #now: () => number
  readonly #attempt: () => void
  #kept = false
  #retry: NodeJS.Timeout | undefined

  constructor(now: () => number, attempt: () => void) {
    this.#now = now
    this.#attempt = attempt
  }

  /** Whether it is tried without anybody who needs it. */
  get isKept(): boolean {
    return this.#kept
  }

  /** Whether it failed so often that it is left alone. */
  get isOpen(): boolean {
    return this.#breaker.openUntil(this.#now()) > 0
  }

  keep(): void {
    this.#kept = true
  }

  succeeded(): void {
    this.#breaker.succeeded()
  }

  failed(times = 1): void {
    for (let at = 0; at < times; at++) this.#breaker.failed(this.#now())
  }

  /** Why nothing is let through now. */
  shut(): string | undefined {
    const until = this.#breaker.openUntil(this.#now())
    if (until === 0) return undefined
    const seconds = Math.ceil((until - this.#now()) / 1000)
    return `It failed ${this.#breaker.failures} times in a row and is left alone for ${seconds} s; try again then.`
  }

  rest(): Rest {
    const until = this.#breaker.openUntil(this.#now())
    const delay = until > 0 ? until - this.#now() : backoffMs(this.#breaker.failures)
    if (this.#kept) {
      this.stop()
      this.#retry = setTimeout(this.#attempt, delay).unref()
    }
    if (until === 0) return { state: this.#kept ? "waiting" : "resting", next: "The next call tries again." }
    return { state: "open", next: `It is left alone for ${Math.ceil(delay / 1000)} s; try again then.` }
  }

  /** Takes back the next attempt. */
  stop(): void {
    clearTimeout(this.#retry)
  }
}
