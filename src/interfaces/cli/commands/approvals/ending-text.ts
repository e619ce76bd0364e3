import type { EndEntry } from "../../../../core/audit-entry.ts"
import type { PendingItem } from "../../../../core/approval.ts"

type Ended = Pick<EndEntry, "status" | "ran" | "error">

/** Describes the result of an answer. `asks` is true for a call by which a conversation itself asks for more. */
export function endingText({ kind }: Pick<PendingItem, "kind">, { status, ran, error }: Ended, asks: boolean): string {
  const isDone = status === "success"
  if (kind === "question") return isDone ? "The agent is told." : "The agent is told that there is no answer."
  if (kind === "result") return isDone ? "The model gets the result." : "The model does not get the result."
  if (asks) return isDone ? "The conversation goes on." : "The conversation does not go on."
  const how = isDone ? "It ran" : ran ? "It failed" : "It did not run"
  return `${how}${error === undefined ? "" : `: ${error}`}`.replace(/\.?$/, ".")
}
