import type { PendingItem } from "../../core/approval.ts"

/** The items that the person at a client may answer there: none, calls of medium risk at most, or everything. */
export type InClient = "none" | "medium" | "all"

/**
 * Tests whether an item is put to the person at the client. A program on the agent's side of the client can fill in its forms,
 * so calls of high risk and sensitive tools are for the approval queue. A question approves nothing.
 */
export function isAskedInClient(item: PendingItem, inClient: InClient): boolean {
  if (item.kind === "question" || inClient === "all") return true
  if (inClient === "none" || item.level === "sensitive") return false
  return item.risk.band !== "high"
}
