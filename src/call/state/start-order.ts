/** A place in a line: whoever is in it holds those behind back. */
interface LinePlace {
  /** Resolves when nobody before it is in the line any more; undefined when that is so already. */
  turn(): Promise<void> | undefined
  leave(): void
  comeBack(): void
}

/** The place of one call in the order of those that were made together. */
export interface OrderPlace {
  /** In line for being asked about, or for writing the start. */
  readonly asking: LinePlace
  /** In line for a permit to run. */
  readonly starting: LinePlace
  /** It waits for something else, or has ended: it holds nobody back. */
  leave(): void
  /** It goes on and holds later calls back again. */
  comeBack(): void
}

/**
 * Calls that are made together ask people and start in their order. They are decided on beside each other, and one that
 * waits for a person or runs holds nobody back.
 */
export class StartOrder {
  readonly #asking = new Line()
  readonly #starting = new Line()

  /** Take the places in the order of the calls. */
  place(): OrderPlace {
    const [asking, starting] = [this.#asking.place(), this.#starting.place()]
    return {
      asking,
      starting,
      leave() {
        asking.leave()
        starting.leave()
      },
      comeBack() {
        asking.comeBack()
        starting.comeBack()
      },
    }
  }
}

class Line {
  readonly #isHere: boolean[] = []
  readonly #waiting = new Set<{ index: number; go(): void }>()

  place(): LinePlace {
    const index = this.#isHere.push(true) - 1
    return {
      turn: () => {
        const first = this.#isHere.indexOf(true)
        if (first === -1 || first >= index) return undefined
        return new Promise((go) => this.#waiting.add({ index, go }))
      },
      leave: () => {
        if (!this.#isHere[index]) return
        this.#isHere[index] = false
        this.#next()
      },
      comeBack: () => {
        this.#isHere[index] = true
      },
    }
  }

  #next(): void {
    const first = this.#isHere.indexOf(true)
    for (const waiter of this.#waiting) {
      if (first !== -1 && first < waiter.index) continue
      this.#waiting.delete(waiter)
      waiter.go()
    }
  }
}
