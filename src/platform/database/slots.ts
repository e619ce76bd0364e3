import { failure } from "../../model/ending.ts"

/** Lets so many pieces of work run at once. The others wait for their turn. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Fails when it is stopped while it waits. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    while (this.#free === 0 && !signal.aborted) await this.#turn(signal)
    if (signal.aborted) {
      this.#waiting.shift()?.()
      throw stopped()
    }
    this.#free--
    try {
      return await work()
    } finally {
      this.#free++
      this.#waiting.shift()?.()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1)
        resolve()
      }
      signal.addEventListener("abort", giveUp, { once: true })
      this.#waiting.push(wake)
    })
  }
}

export function stopped(): Error {
  return failure("The statement was stopped. Ask for less at once, or add a condition.", {
    toolCode: "statement_stopped",
  })
}
