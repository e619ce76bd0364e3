const failuresToOpen = 5
const openMs = 30_000

/** Keeps calls away from a server that failed five times in a row: for 30 seconds, then one attempt may look again. */
export class Breaker {
  #failures = 0
  #openUntil = 0

  get failures(): number {
    return this.#failures
  }

  /** When the next attempt may be made; 0 for now. */
  openUntil(now: number): number {
    return this.#openUntil > now ? this.#openUntil : 0
  }

  failed(now: number): void {
    this.#failures++
    if (this.#failures >= failuresToOpen) this.#openUntil = now + openMs
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntil = 0
  }
}

/** Half a second, doubled with every failure up to a minute; half of it is chance, so that many do not come at once. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const whole = Math.min(60_000, 500 * 2 ** Math.max(0, failures - 1))
  return whole / 2 + (whole / 2) * random()
}
