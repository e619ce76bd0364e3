import { spanWords } from "../../lib/span-words.ts"
import type { PendingItem } from "../../core/approval.ts"

const lastDate = 8.64e15

/** Until when something waits, and what happens if nobody answers. */
export function deadlineText({ kind, until }: Pick<PendingItem, "kind" | "until">, now: number): string {
  if (!(until <= lastDate)) return "It waits until somebody answers."
  if (until <= now) return "Its time is over."
  const at = new Date(until).toISOString().slice(0, 16).replace("T", " ")
  return `It waits ${rounded(until - now)}, until ${at} UTC. ${ifUnanswered[kind]}`
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]

/** A wait of seven days is one of seven days also after its first minute, so that the nearest unit counts. */
function rounded(ms: number): string {
  const unit = ms < 2 * minute ? second : ms < 2 * hour ? minute : ms < 2 * day ? hour : day
  return spanWords(Math.round(ms / unit) * unit)
}

const ifUnanswered: Record<PendingItem["kind"], string> = {
  call: "Unanswered, it does not run.",
  result: "Unanswered, it is withheld.",
  question: "Then it ends without an answer.",
}
