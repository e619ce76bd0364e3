/**
 * The time limit of a call that may make others. It stands still while every running sub-call waits for a person, and
 * then the calls above stand too. Without a limit it only passes that on.
 */
export class RunClock {
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #running = 0
  #waiting = 0
  #stands = false
  readonly #ring: () => void
  readonly #above: RunClock | undefined

  constructor(milliseconds: number | null, ring: () => void, above?: RunClock) {
    this.#left = milliseconds ?? Infinity
    this.#ring = ring
    this.#above = above
    if (milliseconds !== null) this.#go()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left = Infinity
    if (this.#stands) this.#above?.waiting(-1)
    this.#stands = false
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
    if (stands === this.#stands) return
    this.#stands = stands
    this.#above?.waiting(stands ? 1 : -1)
    if (this.#left === Infinity) return
    if (!stands) return this.#go()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left -= performance.now() - this.#since
  }

  #go(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(this.#ring, Math.max(1, this.#left))
  }
}
