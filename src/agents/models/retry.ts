import { sleepUnlessAborted } from "../../lib/on-abort.ts"
import type { CancelSignal } from "../../lib/stop.ts"
import type { ModelError } from "./model-error.ts"

/** The number of retries of a request after a failure that may pass. */
export const defaultRetries = 3

const firstWaitMs = 1000
const longestWaitMs = 30_000

/** Returns the wait before the next try: as long as the server says, else 1, 2, 4 … seconds, a little more or less. */
export function retryDelay(error: ModelError, tries: number, random: () => number = Math.random): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs
  return Math.round(Math.min(longestWaitMs, firstWaitMs * 2 ** tries) * (0.75 + random() / 2))
}

/** Reads `retry-after-ms` and `retry-after`, which is a number of seconds or a date. */
export function retryAfter(headers: Readonly<Record<string, string>> = {}, now = Date.now()): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  const text = headers["retry-after"]?.trim()
  if (!text) return undefined
  const seconds = Number(text)
  if (seconds >= 0) return seconds * 1000
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Waits; rejects with the reason of a signal when one is aborted. */
export async function waitFor(milliseconds: number, ...signals: readonly CancelSignal[]): Promise<void> {
  await sleepUnlessAborted(milliseconds, signals)
  throwIfAborted(signals)
}

export function throwIfAborted(signals: readonly CancelSignal[]): void {
  for (const signal of signals) if (signal.aborted) throw signal.reason
}
