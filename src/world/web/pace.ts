import { setTimeout as wait } from "node:timers/promises"

/** How many requests a host is sent at once, and how many a second after that. */
export interface PaceOptions {
  readonly burst: number
  readonly perSecond: number
}

/** Lets requests to one host wait for their turn, whichever agent makes them, so that nobody is flooded from here. */
export interface Pace {
  turn(host: string, signal: AbortSignal): Promise<void> | undefined
}

export function makePace({ burst, perSecond }: PaceOptions): Pace {
  const everyMs = 1000 / perSecond
  /** When each host would be at rest, the longest untouched first. */
  const restAt = new Map<string, number>()
  return {
    turn(host, signal) {
      const now = performance.now()
      const rest = Math.max(restAt.get(host) ?? now, now) + everyMs
      restAt.delete(host)
      restAt.set(host, rest)
      forget(restAt, now)
      const waitMs = rest - now - burst * everyMs
      return waitMs > 0 ? wait(waitMs, undefined, { signal }) : undefined
    },
  }
}

function forget(restAt: Map<string, number>, now: number): void {
  for (const [host, rest] of restAt) {
    if (rest > now && restAt.size < 10_000) return
    restAt.delete(host)
  }
}
