import type { CallClock } from "../../model/app.ts"

/** The time that a run may take. While all its calls wait for people, no time passes. */
export class RunTime implements CallClock {
  #until: number
  #running = 0
  #waiting = 0
  #pausedAt: number | undefined

  constructor(until: number) {
    this.#until = until
  }

  get isOver(): boolean {
    return Date.now() >= this.#until
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
    const isPaused = this.#running > 0 && this.#waiting >= this.#running
    if (isPaused) this.#pausedAt ??= Date.now()
    else if (this.#pausedAt !== undefined) {
      this.#until += Date.now() - this.#pausedAt
      this.#pausedAt = undefined
    }
  }
}
