import { setMaxListeners } from "node:events"
import type { CancelSignal } from "./stop.ts"

const used = new WeakSet<AbortSignal>()
const unlimited = new WeakSet<AbortSignal>()

/**
 * Listens for an abort. One signal may cancel a hundred calls, so this switches off Node's warning at ten listeners. That
 * takes time, and most signals are for one call only.
 */
export function onAbort(signal: CancelSignal, listener: () => void): void {
  if (signal instanceof AbortSignal) {
    if (!used.has(signal)) used.add(signal)
    else if (!unlimited.has(signal)) {
      unlimited.add(signal)
      setMaxListeners(0, signal)
    }
  }
  signal.addEventListener("abort", listener)
}

/** Resolves after this time, or as soon as one of the signals is aborted. */
export function sleepUnlessAborted(
  milliseconds: number,
  signals: readonly (CancelSignal | undefined)[],
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    for (const signal of signals) if (signal !== undefined) onAbort(signal, done)
    if (signals.some((signal) => signal?.aborted)) done()
  })
}
