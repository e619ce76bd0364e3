import { setMaxListeners } from "node:events"

const unlimited = new WeakSet<AbortSignal>()

/** Listens for an abort. One signal may cancel a hundred calls, so this switches off Node's warning at ten listeners. */
export function onAbort(signal: AbortSignal, listener: () => void): void {
  if (!unlimited.has(signal)) {
    unlimited.add(signal)
    setMaxListeners(0, signal)
  }
  signal.addEventListener("abort", listener)
}
