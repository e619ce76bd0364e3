/** Counts calls in progress and those of them that wait for people: while all of them wait, a clock stands still. */
export abstract class WaitCounter {
  #running = 0
  #waiting = 0
  protected areAllWaiting = false

  countChild(change: 1 | -1): void {
    this.#running += change
    this.#update()
  }

  countWaiting(change: 1 | -1): void {
    this.#waiting += change
    this.#update()
  }

  /** Called when all calls wait, and when that is over. */
  protected abstract onChange(areAllWaiting: boolean): void

  #update(): void {
    const areAllWaiting = this.#running > 0 && this.#waiting >= this.#running
    if (areAllWaiting === this.areAllWaiting) return
    this.areAllWaiting = areAllWaiting
    this.onChange(areAllWaiting)
  }
}
