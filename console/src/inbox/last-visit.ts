import { useSyncExternalStore } from "react"

const storageKey = "qm-last-visit"
const awayMs = 10 * 60_000

const listeners = new Set<() => void>()
let since: number | undefined

function set(next: number | undefined) {
  since = next
  for (const listener of listeners) listener()
}

/** Returns the time of the last visit, if more than ten minutes ago: by opening the page or by coming to its tab. */
export const useLastVisit = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => since,
  )
export const forgetLastVisit = () => set(undefined)

const isVisible = () => document.visibilityState === "visible"
const mark = () => localStorage.setItem(storageKey, String(Date.now()))

function look() {
  const before = Number(localStorage.getItem(storageKey) ?? 0)
  if (isVisible() && before > 0 && Date.now() - before > awayMs) set(before)
  mark()
}
look()
setInterval(() => isVisible() && mark(), 30_000)
document.addEventListener("visibilitychange", look)
