const failuresToOpen = 5
const openMs = 30_000

/** A circuit breaker: after five failures in a row no call is sent to the server for 30 seconds; then one may try again. */
export class Breaker {
  #failures = 0
  #openUntil = 0

  get failures(): number {
    return this.#failures
  }

  /** Returns the time of the next permitted attempt; 0 for now. */
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

/** Half a second, doubled with every failure up to a minute. Half of it is random, to spread the retries of many clients. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const delay = Math.min(60_000, 500 * 2 ** Math.max(0, failures - 1))
  return delay / 2 + (delay / 2) * random()
}
