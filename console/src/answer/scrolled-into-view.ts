import { isInView } from "./guard.ts"

/** Scrolls to what was found about the call, or what is asked, if it cannot be seen. Then the key has done its work. */
export function scrolledIntoView(): boolean {
  const found = document.querySelector("[data-found]")
  const view = document.querySelector("[data-card-scroll]")
  if (found === null || view === null) return false
  if (isInView(found.getBoundingClientRect(), view.getBoundingClientRect())) return false
  found.scrollIntoView({ block: "start" })
  return true
}
