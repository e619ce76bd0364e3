import { useSyncExternalStore } from "react"

/** The lead of the server's clock over this browser's. All times shown are the server's. */
let offset = 0

export function setServerTime(now: number, receivedAt = Date.now()): void {
  offset = now - receivedAt
}

export const serverNow = () => Date.now() + offset

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => listeners.forEach((tell) => tell()), 250)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The server's time, rounded down to `step` milliseconds: whoever uses it is drawn once a step. */
export const useServerTime = (step = 1000) =>
  useSyncExternalStore(subscribe, () => Math.floor(serverNow() / step) * step)
