import { setTimeout as wait } from "node:timers/promises"

/** Limits of requests to a host: sent at once, and per second after that. */
export interface ThrottleOptions {
  readonly burst: number
  readonly perSecond: number
}

/** Delays requests to one host, for all agents together, so that no host is flooded. */
export interface HostThrottle {
  waitTurn(host: string, signal: AbortSignal): Promise<void> | undefined
}

export function makeHostThrottle({ burst, perSecond }: ThrottleOptions): HostThrottle {
  const everyMs = 1000 / perSecond
  /** Until when each host is busy if requests go out at the steady rate; least recently used first. */
  const busyUntil = new Map<string, number>()
  return {
    waitTurn(host, signal) {
      const now = performance.now()
      const until = Math.max(busyUntil.get(host) ?? now, now) + everyMs
      busyUntil.delete(host)
      busyUntil.set(host, until)
      forget(busyUntil, now)
      const waitMs = until - now - burst * everyMs
      return waitMs > 0 ? wait(waitMs, undefined, { signal }) : undefined
    },
  }
}

function forget(busyUntil: Map<string, number>, now: number): void {
  for (const [host, until] of busyUntil) {
    if (until > now && busyUntil.size < 10_000) return
    busyUntil.delete(host)
  }
}
