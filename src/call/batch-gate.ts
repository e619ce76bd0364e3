/** The place of one call in its batch. */
export interface BatchPlace {
  /** The call was decided on. */
  decided(asks: boolean): void
  /** A person has answered it, nobody had to, or it ended. */
  settle(): void
  /** Its caller went away while it waits: the questions of this batch will not be answered here. */
  detach(): void
  /** Whether calls with effects may run. `never` once a call of the batch was detached. */
  state(): "open" | "closed" | "never"
  /** Calls the listener at every change of the state. Returns a function that stops that. */
  onChange(listener: () => void): () => void
}

/**
 * Holds back the calls with effects of one batch until all its calls are decided on and every question to a person is
 * answered. So a deletion does not run ahead while the message that was to go out before it still waits for approval.
 */
export class BatchGate {
  #unsettled = 0
  #isDetached = false
  readonly #listeners = new Set<() => void>()

  /** A call of the batch. Take the places of all calls that may begin before the first of them begins. */
  place(): BatchPlace {
    let isSettled = false
    this.#unsettled++
    const settle = () => {
      if (isSettled) return
      isSettled = true
      this.#unsettled--
      if (this.#unsettled === 0) this.#announce()
    }
    return {
      decided: (asks) => {
        if (!asks) settle()
      },
      settle,
      detach: () => {
        this.#isDetached = true
        this.#announce()
      },
      state: () => (this.#isDetached ? "never" : this.#unsettled === 0 ? "open" : "closed"),
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
