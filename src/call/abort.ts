import { setMaxListeners } from "node:events"

const unlimited = new WeakSet<AbortSignal>()

/** Listens for an abort. One signal may well cancel a hundred calls, so Node's warning at ten is switched off for it. */
export function onAbort(signal: AbortSignal, listener: () => void): void {
  if (!unlimited.has(signal)) {
    unlimited.add(signal)
    setMaxListeners(0, signal)
  }
  signal.addEventListener("abort", listener)
}
