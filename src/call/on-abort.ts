import { setMaxListeners } from "node:events"

const used = new WeakSet<AbortSignal>()
const unlimited = new WeakSet<AbortSignal>()

/**
 * Listens for an abort. One signal may cancel a hundred calls, so this switches off Node's warning at ten listeners. That
 * takes time, and most signals are for one call only.
 */
export function onAbort(signal: AbortSignal, listener: () => void): void {
  if (!used.has(signal)) used.add(signal)
  else if (!unlimited.has(signal)) {
    unlimited.add(signal)
    setMaxListeners(0, signal)
  }
  signal.addEventListener("abort", listener)
}
