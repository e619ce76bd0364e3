const storageKey = "qm-last-visit"
const away = 10 * 60_000

/** When somebody last looked, if that was more than ten minutes before this page was opened. Read once. */
const before = Number(localStorage.getItem(storageKey) ?? 0)
const since = before > 0 && Date.now() - before > away ? before : undefined

export const lastVisit = () => since

const mark = () => document.visibilityState === "visible" && localStorage.setItem(storageKey, String(Date.now()))
mark()
setInterval(mark, 30_000)
document.addEventListener("visibilitychange", () => localStorage.setItem(storageKey, String(Date.now())))
