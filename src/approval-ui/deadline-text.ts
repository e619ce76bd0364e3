import type { PendingItem } from "../model/approval.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
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

function spanWords(ms: number): string {
  if (ms < 2 * minute) return many(Math.max(1, Math.floor(ms / 1000)), "second")
  if (ms < 2 * hour) return many(Math.floor(ms / minute), "minute")
  return ms < 2 * day ? many(Math.floor(ms / hour), "hour") : many(Math.floor(ms / day), "day")
}

function many(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}
