import type { RequestContext } from "./connection-types.ts"

/** The running requests to one server, each with the call it belongs to, oldest first. */
export class InFlightRequests {
  readonly #requests = new Set<InFlightRequest>()
  readonly #onIdle: () => void

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle
  }

  get size(): number {
    return this.#requests.size
  }

  begin(context: RequestContext): InFlightRequest {
    const request = new InFlightRequest(context, () => {
      this.#requests.delete(request)
      if (this.#requests.size === 0) this.#onIdle()
    })
    this.#requests.add(request)
    return request
  }

  /**
   * The request that a message without a call id belongs to: the newest one. *several* if calls of more than one agent
   * run, since an agent must not see messages for another.
   */
  findOwner(): InFlightRequest | "none" | "several" {
    let newest: InFlightRequest | undefined
    for (const request of this.#requests) {
      if (newest !== undefined && newest.context.agentId !== request.context.agentId) return "several"
      newest = request
    }
    return newest ?? "none"
  }
}

/** One running request, with a timer that pauses while a person or program is asked. */
export class InFlightRequest {
  readonly context: RequestContext
  /** Why we ended it. */
  stopped: "timeout" | "aborted" | undefined
  readonly #control = new AbortController()
  readonly #onEnd: () => void
  readonly #onAbort = () => this.#stop("aborted", "The call was cancelled.")
  #timer: NodeJS.Timeout | undefined
  #remainingMs: number | null
  #startedAt = 0
  #pauses = 0

  constructor(context: RequestContext, onEnd: () => void) {
    this.context = context
    this.#onEnd = onEnd
    this.#remainingMs = context.timeoutMs
    if (context.signal.aborted) this.#onAbort()
    else context.signal.addEventListener("abort", this.#onAbort, { once: true })
    this.#startTimer()
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  /** Pauses the timer while `work` waits for a person or another program. */
  async withTimerPaused<T>(work: () => Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) this.#pauseTimer()
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.#startTimer()
    }
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#pauses = Infinity
    this.context.signal.removeEventListener("abort", this.#onAbort)
    this.#onEnd()
  }

  #startTimer(): void {
    if (this.#remainingMs === null || this.stopped !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#stop("timeout", "The call took too long."), this.#remainingMs)
  }

  #pauseTimer(): void {
    clearTimeout(this.#timer)
    if (this.#remainingMs !== null)
      this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#startedAt))
  }

  #stop(why: "timeout" | "aborted", reason: string): void {
    this.stopped ??= why
    clearTimeout(this.#timer)
    this.#control.abort(reason)
  }
}
