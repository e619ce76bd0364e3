import { spanWords } from "../lib/span-words.ts"
import type { PendingItem } from "../model/approval.ts"

const lastDate = 8.64e15

/** Until when something waits, and what happens if nobody answers. */
export function deadlineText({ kind, until }: Pick<PendingItem, "kind" | "until">, now: number): string {
  if (!(until <= lastDate)) return "It waits until somebody answers."
  if (until <= now) return "Its time is over."
  const at = new Date(until).toISOString().slice(0, 16).replace("T", " ")
  return `It waits until ${at} UTC, ${spanWords(until - now)} from now. ${ifUnanswered[kind]}`
}

const ifUnanswered: Record<PendingItem["kind"], string> = {
  call: "If nobody answers, it does not run.",
  result: "If nobody answers, it is withheld.",
  question: "Then it ends without an answer.",
}
