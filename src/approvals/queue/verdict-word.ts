import type { PendingItem } from "../../core/approval.ts"
import type { CallRow, SettledAnswer } from "../../core/call.ts"

/** A call that waits asks for approval, for the release of its result, or a question. */
export function kindOf(row: CallRow): PendingItem["kind"] {
  if (row.state === "held" || row.state === "released") return "result"
  return row.card.question === undefined ? "call" : "question"
}

/** An answer in one word: `Approved`. */
export function verdictWord(row: CallRow, { approved, edit }: SettledAnswer): string {
  const kind = kindOf(row)
  if (edit !== undefined) return "Changed"
  if (kind === "result") return approved ? "Released" : "Withheld"
  if (!approved) return "Rejected"
  return kind === "question" ? "Answered" : "Approved"
}
