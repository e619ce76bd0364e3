import { useEffect, useRef } from "react"
import { createGuard, isCommand, type Guard, type PageState } from "./guard.ts"

const guards = new Set<Guard>()

/** A guard that is told of the window's focus and of every pointer from `listen` until `close`. */
export function openGuard(): Guard & { listen(): void; close(): void } {
  const guard = createGuard(() => performance.now(), document.hasFocus())
  return { ...guard, listen: () => void guards.add(guard), close: () => void guards.delete(guard) }
}

/** The guard of a page that shows one card. */
export const pageGuard = openGuard()
pageGuard.listen()

window.addEventListener("blur", () => guards.forEach((guard) => guard.windowBlurred()))
window.addEventListener("focus", () => guards.forEach((guard) => guard.windowFocused()))
window.addEventListener("pointerdown", () => guards.forEach((guard) => guard.pointerDown()), { capture: true })

const fields =
  'input:not([type="checkbox"]):not([type="radio"]):not([type="button"]), textarea, select, [contenteditable="true"], [role="textbox"], [role="combobox"]'
const covers = '[aria-modal="true"], [role="menu"], [role="listbox"]'

export const pageState = (): PageState => ({
  typing: document.activeElement?.matches(fields) ?? false,
  covered: document.querySelector(covers) !== null,
})

/** Calls `onKey` for single keys that are meant as commands. It returns whether it used the key. */
export function useCommandKeys(onKey: (key: string, event: KeyboardEvent) => boolean): void {
  const latest = useRef(onKey)
  useEffect(() => {
    latest.current = onKey
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isCommand(event, pageState())) return
      const key =
        event.shiftKey && event.key.length === 1 && /[a-z]/i.test(event.key) ? `⇧${event.key.toUpperCase()}` : event.key
      if (latest.current(key.length === 1 ? key.toLowerCase() : key, event)) event.preventDefault()
    }
    window.addEventListener("keydown", listen)
    return () => window.removeEventListener("keydown", listen)
  }, [])
}
