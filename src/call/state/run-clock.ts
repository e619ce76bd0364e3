import { WaitCounter } from "../../lib/wait-counter.ts"
import type { CallClock } from "./batch-options.ts"

/**
 * The time limit of a call that may make sub-calls. The clock is paused while every running sub-call waits for a person;
 * then this call counts as waiting for the clock of its parent too. Without a limit it only tells the parent.
 */
export class RunClock extends WaitCounter implements CallClock {
  #left: number
  #since = 0
  #pausedAt = 0
  #pausedMs = 0
  #timer: NodeJS.Timeout | undefined
  readonly #onTimeout: () => void
  readonly #parent: CallClock | undefined

  constructor(milliseconds: number | null, onTimeout: () => void, parent?: CallClock) {
    super()
    this.#left = milliseconds ?? Infinity
    this.#onTimeout = onTimeout
    this.#parent = parent
    if (milliseconds !== null) this.#start()
  }

  /** Returns for how many milliseconds it was paused. */
  stop(): number {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left = Infinity
    if (this.areAllWaiting) this.onChange(false)
    this.areAllWaiting = false
    return Math.round(this.#pausedMs)
  }

  protected override onChange(isPaused: boolean): void {
    this.#parent?.countWaiting(isPaused ? 1 : -1)
    if (isPaused) this.#pausedAt = performance.now()
    else this.#pausedMs += performance.now() - this.#pausedAt
    if (this.#left === Infinity) return
    if (!isPaused) return this.#start()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left -= performance.now() - this.#since
  }

  #start(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(this.#onTimeout, Math.max(1, this.#left))
  }
}
