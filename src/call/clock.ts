/** A time limit that can stand still. It stands while every running sub-call waits for a person. */
export class RunClock {
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #running = 0
  #waiting = 0
  readonly #ring: () => void

  constructor(milliseconds: number, ring: () => void) {
    this.#left = milliseconds
    this.#ring = ring
    this.#go()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left = Infinity
  }

  /** Tells that a sub-call began (+1) or ended (-1). */
  children(change: 1 | -1): void {
    this.#running += change
    this.#turn()
  }

  /** Tells that a sub-call began (+1) or ceased (-1) to wait for a person. */
  waiting(change: 1 | -1): void {
    this.#waiting += change
    this.#turn()
  }

  #turn(): void {
    const stands = this.#running > 0 && this.#waiting >= this.#running
    if (stands && this.#timer !== undefined) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#left -= performance.now() - this.#since
    } else if (!stands && this.#timer === undefined && this.#left !== Infinity) {
      this.#go()
    }
  }

  #go(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(this.#ring, Math.max(1, this.#left))
  }
}
