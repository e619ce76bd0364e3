import { quoteName } from "./card-rows.ts"

/** Why a dialog is closed from outside, as the reason of its signal: who answered, or a sentence. */
export type CloseReason = { by: string } | { sentence: string }

/** The sentence for the reason of an aborted signal. */
export function closeReasonText({ reason }: { readonly reason: unknown }): string {
  const { by, sentence } = Object(reason) as Record<string, unknown>
  if (typeof sentence === "string") return sentence
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
