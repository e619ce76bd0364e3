import { useQuery } from "@tanstack/react-query"
import { useLocation, useNavigate } from "@tanstack/react-router"
import { useEffect, useRef, useSyncExternalStore } from "react"
import { inboxQuery, useMe } from "../api/queries.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useSay, useWords } from "../words/words.tsx"
import { pages } from "./pages.ts"

const storageKey = "qm-notify"
const listeners = new Set<() => void>()

/** The setting of this browser for notices of new cards. `undefined`: the person was not asked. */
export type Notify = "on" | "off" | undefined

const chosen = (): Notify => {
  const stored = localStorage.getItem(storageKey)
  if (stored !== "on" && stored !== "off") return undefined
  return stored === "on" && Notification.permission !== "granted" ? "off" : stored
}

/** Notifications of the browser: off until the person turns them on, and asked about once. */
export function useNotify(): { notify: Notify; canNotify: boolean; turn: (to: "on" | "off") => Promise<void> } {
  const canNotify = "Notification" in window && Notification.permission !== "denied"
  const notify = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => (canNotify ? chosen() : "off"),
  )
  const turn = async (to: "on" | "off") => {
    const allowed = to === "on" && (await Notification.requestPermission()) === "granted"
    localStorage.setItem(storageKey, allowed ? "on" : "off")
    listeners.forEach((tell) => tell())
  }
  return { notify, canNotify, turn }
}

/** The tab's title counts what waits. While nobody looks at the page, the browser tells about each new card once. */
export function useAttention(): void {
  const words = useWords()
  const say = useSay()
  const navigate = useNavigate()
  const { waiting } = useMe()
  const { notify } = useNotify()
  const { data } = useQuery(inboxQuery)
  const path = useLocation().pathname
  const page = pages.find(({ to }) => path.startsWith(to))?.label(words)
  useEffect(() => {
    const name = page === undefined ? "Quartermaster" : `${page} · Quartermaster`
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name
  }, [page, waiting])

  const seen = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    if (data === undefined) return
    const before = seen.current
    seen.current = new Set(data.items.map(({ callId }) => callId))
    if (before === undefined || notify !== "on" || document.visibilityState === "visible") return
    for (const card of data.items.filter(({ callId }) => !before.has(callId)).slice(0, 3)) {
      // Every tab tells; with the same tag the browser shows it once.
      const shown = new Notification(say(card.title), { body: printable(card.agent.id), tag: card.callId })
      shown.addEventListener("click", () => {
        window.focus()
        shown.close()
        void navigate({ to: "/inbox/$callId", params: { callId: card.callId } })
      })
    }
  }, [data, notify, say, navigate])
}
