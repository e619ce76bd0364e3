import type { CallClock } from "../model/app.ts"

/**
 * The time limit of a call that may make sub-calls. The clock is paused while every running sub-call waits for a person;
 * then this call counts as waiting for the clock of its parent too. Without a limit it only tells the parent.
 */
export class RunClock implements CallClock {
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #running = 0
  #waiting = 0
  #paused = false
  readonly #onTimeout: () => void
  readonly #parent: CallClock | undefined

  constructor(milliseconds: number | null, onTimeout: () => void, parent?: CallClock) {
    this.#left = milliseconds ?? Infinity
    this.#onTimeout = onTimeout
    this.#parent = parent
    if (milliseconds !== null) this.#start()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left = Infinity
    if (this.#paused) this.#parent?.countWaiting(-1)
    this.#paused = false
  }

  countChild(change: 1 | -1): void {
    this.#running += change
    this.#update()
  }

  countWaiting(change: 1 | -1): void {
    this.#waiting += change
    this.#update()
  }

  #update(): void {
    const paused = this.#running > 0 && this.#waiting >= this.#running
    if (paused === this.#paused) return
    this.#paused = paused
    this.#parent?.countWaiting(paused ? 1 : -1)
    if (this.#left === Infinity) return
    if (!paused) return this.#start()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left -= performance.now() - this.#since
  }

  #start(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(this.#onTimeout, Math.max(1, this.#left))
  }
}
