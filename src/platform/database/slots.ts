import { failure } from "../../core/ending.ts"

/** Lets so many pieces of work run at once. The others wait for their turn. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Fails when it is stopped before its turn comes. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await this.#turn(signal)
    try {
      if (signal.aborted) throw stopped()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(stopped())
      }
      if (signal.aborted) return reject(stopped())
      signal.addEventListener("abort", giveUp, { once: true })
      this.#waiting.push(begin)
    })
  }
}

export function stopped(): Error {
  return failure("The statement was stopped. Ask for less at once, or add a condition.", {
    toolCode: "statement_stopped",
  })
}
