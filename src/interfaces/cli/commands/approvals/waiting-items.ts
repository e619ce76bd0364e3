import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import type { Ticket } from "../../../../core/result.ts"

/** Returns the items that these tickets wait for. Those that were answered meanwhile are left out. */
export async function waitingItems({ approvals }: Quartermaster, tickets: readonly Ticket[]): Promise<PendingItem[]> {
  const items = await Promise.all(tickets.map(({ callId }) => approvals.show(callId)))
  return items.filter((item) => item !== undefined)
}

/** Calls `tell` for what begins to wait. Returns a function that stops that, and resolves when all was told. */
export function tellWaiting(app: Quartermaster, tell: (item: PendingItem) => Promise<void>): () => Promise<void> {
  let told = Promise.resolve()
  const stop = app.on("TOOL_CALL_WAITING", ({ callId }) => {
    // A call that has already ended needs no announcement.
    const tellOne = async () => {
      const item = await app.approvals.show(callId)
      if (item !== undefined) await tell(item)
    }
    told = told.then(tellOne).catch(() => {})
  })
  return () => {
    stop()
    return told
  }
}
