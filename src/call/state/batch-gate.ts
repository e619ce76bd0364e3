/** The place of one call in its batch. */
export interface BatchPlace {
  /** The call waits for a person. */
  waits(): void
  /** A person has answered it, nobody had to, or it ended. */
  settle(): void
  /** Its caller went away while it waits: the questions of this batch will not be answered here. */
  detach(): void
  /**
   * Reports whether calls with effects may run. `undecided` while it is not known of a call of the batch whether it
   * waits for a person, `closed` while only people are waited for, `never` once a call was detached.
   */
  state(): "open" | "undecided" | "closed" | "never"
  /** Calls the listener at every change of the state. Returns a function that stops that. */
  onChange(listener: () => void): () => void
  /**
   * Waits until no call of the batch runs that must not run beside this one. Returns whether it had to wait; `onWait`
   * is called before.
   */
  begin(files: BatchFiles, onWait?: () => void): Promise<boolean>
  /** Its tool has ended. */
  end(): void
}

/** Absolute paths that decide which calls of a batch may run beside each other. */
export interface BatchFiles {
  /** The files that its approval is bound to. */
  readonly bound: ReadonlySet<string>
  /** The files that it writes, or `any` when that is not known. */
  readonly writes: ReadonlySet<string> | "any"
}

/**
 * Holds back the calls with effects of one batch until all its calls are decided on and every question to a person is
 * answered. So a deletion does not run ahead while the message that was to go out before it still waits for approval.
 * Then a call that writes a file does not run beside one whose approval is bound to that file, such as the script it
 * runs.
 */
export class BatchGate {
  #undecided = 0
  #unsettled = 0
  #isDetached = false
  readonly #listeners = new Set<() => void>()
  readonly #running = new Set<BatchFiles & { readonly ended: Promise<void> }>()

  /** A call of the batch. Take the places of all calls that may begin before the first of them begins. */
  place(): BatchPlace {
    let isDecided = false
    let isSettled = false
    let end = () => {}
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
      begin: async (files, onWait) => {
        let hasWaited = false
        const findOther = () =>
          [...this.#running].find((other) => writesBound(files, other) || writesBound(other, files))
        for (let other = findOther(); other !== undefined; other = findOther()) {
          if (!hasWaited) onWait?.()
          hasWaited = true
          await other.ended
        }
        const ended = new Promise<void>((resolve) => (end = resolve))
        const running = { ...files, ended }
        this.#running.add(running)
        void ended.then(() => this.#running.delete(running))
        return hasWaited
      },
      end: () => end(),
    }
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }
}

function writesBound({ writes }: BatchFiles, { bound }: BatchFiles): boolean {
  return writes === "any" ? bound.size > 0 : [...writes].some((path) => bound.has(path))
}
