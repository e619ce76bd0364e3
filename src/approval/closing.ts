import { named } from "./card-rows.ts"

/** Why a dialog was closed from outside. The one who aborts its signal may give `{ by }` as the reason. */
export function closingWords(signal: AbortSignal): string {
  const reason: unknown = signal.reason
  const by = typeof reason === "object" && reason !== null && "by" in reason ? reason.by : undefined
  return typeof by === "string" ? `${named(by)} has answered elsewhere.` : "It is over; there is nothing to answer."
}

/** Does work with a signal of its own, which hears of the given one only until the work is done. */
export async function withOwnSignal<T>(given: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const close = () => controller.abort(given.reason)
  if (given.aborted) close()
  given.addEventListener("abort", close)
  try {
    return await work(controller.signal)
  } finally {
    given.removeEventListener("abort", close)
  }
}
