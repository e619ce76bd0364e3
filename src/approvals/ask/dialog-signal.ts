import { quoteName } from "./card-rows.ts"

/** The reason of the signal that closes a dialog from outside: who did what (`approved`), or a sentence. */
export type CloseReason = { by: string; did?: string } | { sentence: string }

/** The sentence for the reason of an aborted signal. */
export function closeReasonText({ reason }: { readonly reason: unknown }): string {
  const { by, did, sentence } = Object(reason) as Record<string, unknown>
  if (typeof sentence === "string") return sentence
  if (typeof by !== "string") return "It is over; there is nothing to answer."
  return `${quoteName(by)} has ${typeof did === "string" ? `${did} it` : "answered"} elsewhere.`
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
