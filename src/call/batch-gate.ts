/** The place of one call in its batch. */
export interface BatchPlace {
  /** The call waits for a person. */
  waits(): void
  /** A person has answered it, nobody had to, or it ended. */
  settle(): void
  /** Its caller went away while it waits: the questions of this batch will not be answered here. */
  detach(): void
  /**
   * Whether calls with effects may run. `undecided` while it is not known of a call of the batch whether it waits for a
   * person, `closed` while only people are waited for, `never` once a call was detached.
   */
  state(): "open" | "undecided" | "closed" | "never"
  /** Calls the listener at every change of the state. Returns a function that stops that. */
  onChange(listener: () => void): () => void
}

/**
 * Holds back the calls with effects of one batch until all its calls are decided on and every question to a person is
 * answered. So a deletion does not run ahead while the message that was to go out before it still waits for approval.
 */
export class BatchGate {
  #undecided = 0
  #unsettled = 0
  #isDetached = false
  readonly #listeners = new Set<() => void>()

  /** A call of the batch. Take the places of all calls that may begin before the first of them begins. */
  place(): BatchPlace {
    let isDecided = false
    let isSettled = false
    this.#undecided++
    this.#unsettled++
    const decide = () => {
      if (isDecided) return
      isDecided = true
      this.#undecided--
      if (this.#undecided === 0) this.#announce()
    }
    const settle = () => {
      if (isSettled) return
      isSettled = true
      this.#unsettled--
      decide()
      if (this.#unsettled === 0) this.#announce()
    }
    return {
      waits: decide,
      settle,
      detach: () => {
        this.#isDetached = true
        this.#announce()
      },
      state: () => {
        if (this.#isDetached) return "never"
        if (this.#undecided > 0) return "undecided"
        return this.#unsettled === 0 ? "open" : "closed"
      },
      onChange: (listener) => {
        this.#listeners.add(listener)
        return () => void this.#listeners.delete(listener)
      },
    }
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }
}
