import type { Asking } from "./exchange.ts"

/** Requests that are on their way to one server, each with the call it is made for, oldest first. */
export class Flights {
  readonly #flights = new Set<Flight>()
  readonly #onIdle: () => void

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle
  }

  get size(): number {
    return this.#flights.size
  }

  begin(asking: Asking): Flight {
    const flight = new Flight(asking, () => {
      this.#flights.delete(flight)
      if (this.#flights.size === 0) this.#onIdle()
    })
    this.#flights.add(flight)
    return flight
  }

  /**
   * Whom something concerns that came without the name of a call: the newest of one agent's calls. With calls of
   * several agents under way it is nobody, since one agent must not see what is for another.
   */
  whose(): Flight | "nobody" | "several" {
    let newest: Flight | undefined
    for (const flight of this.#flights) {
      if (newest !== undefined && newest.asking.agentId !== flight.asking.agentId) return "several"
      newest = flight
    }
    return newest ?? "nobody"
  }
}

/** One request on its way, with a clock that stands still while somebody is asked something. */
export class Flight {
  readonly asking: Asking
  /** Why it was ended from this side. */
  stopped: "timeout" | "aborted" | undefined
  readonly #control = new AbortController()
  readonly #onEnd: () => void
  readonly #onAbort = () => this.#stop("aborted", "The call was cancelled.")
  #timer: NodeJS.Timeout | undefined
  #left: number | null
  #startedAt = 0
  #waits = 0

  constructor(asking: Asking, onEnd: () => void) {
    this.asking = asking
    this.#onEnd = onEnd
    this.#left = asking.timeoutMs
    if (asking.signal.aborted) this.#onAbort()
    else asking.signal.addEventListener("abort", this.#onAbort, { once: true })
    this.#run()
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  /** Does something that a person or another program answers; the time it takes is not the server's. */
  async waitFor<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.#rest()
    try {
      return await work()
    } finally {
      if (--this.#waits === 0) this.#run()
    }
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#waits = Infinity
    this.asking.signal.removeEventListener("abort", this.#onAbort)
    this.#onEnd()
  }

  #run(): void {
    if (this.#left === null || this.stopped !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#stop("timeout", "The call took too long."), this.#left)
  }

  #rest(): void {
    clearTimeout(this.#timer)
    if (this.#left !== null) this.#left = Math.max(0, this.#left - (performance.now() - this.#startedAt))
  }

  #stop(why: "timeout" | "aborted", reason: string): void {
    this.stopped ??= why
    clearTimeout(this.#timer)
    this.#control.abort(reason)
  }
}
