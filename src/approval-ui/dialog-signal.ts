import { quoteName } from "./card-rows.ts"

/** Why a dialog was closed from outside. The reason of the aborted signal may be `{ by }`. */
export function closeReasonText(signal: AbortSignal): string {
  const reason: unknown = signal.reason
  const by = typeof reason === "object" && reason !== null && "by" in reason ? reason.by : undefined
  return typeof by === "string" ? `${quoteName(by)} has answered elsewhere.` : "It is over; there is nothing to answer."
}

/** Does work with a signal that follows the outer one only until the work is done. */
export async function withOwnSignal<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const close = () => controller.abort(outer.reason)
  if (outer.aborted) close()
  outer.addEventListener("abort", close)
  try {
    return await work(controller.signal)
  } finally {
    outer.removeEventListener("abort", close)
  }
}
