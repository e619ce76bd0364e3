import { WaitCounter } from "../../lib/wait-counter.ts"
import type { CallClock } from "../../call/state/batch-options.ts"

/** The time that a run may take. While all its calls wait for people, no time passes. */
export class RunTime extends WaitCounter implements CallClock {
  #until: number
  #pausedAt = 0

  constructor(until: number) {
    super()
    this.#until = until
  }

  get isOver(): boolean {
    return Date.now() >= this.#until
  }

  protected override onChange(isPaused: boolean): void {
    if (isPaused) this.#pausedAt = Date.now()
    else this.#until += Date.now() - this.#pausedAt
  }
}
