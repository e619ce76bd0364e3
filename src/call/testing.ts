import { onTestFinished, vi } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../app/quartermaster.ts"
import type { PendingItem } from "../core/approval.ts"
import type { CallRequest } from "../core/call.ts"
import { isTicket, type Ticket, type ToolResult } from "../core/result.ts"
import { withSecondConnection } from "../store/testing/test-store.ts"

/** An input of one number, so that calls can differ. */
export const oneNumber = z.object({ n: z.number().default(1) }) as never

/** The person who changes the organisation in tests. */
export const admin = { kind: "person", id: "ann" } as const

export function expectTicket(answer: ToolResult | Ticket): Ticket {
  if (!isTicket(answer)) throw new Error(`Expected a ticket, got ${JSON.stringify(answer)}`)
  return answer
}

/** A call of `probe` that waits in the approval queue without a process. */
export async function leaveWaiting(system: Quartermaster, request: Partial<CallRequest> = {}): Promise<PendingItem> {
  const asked = { agentId: "operator", tool: "probe", input: {}, ...request }
  const { callId } = expectTicket(await system.call(asked, { waitMs: 0 }))
  return showPending(system, callId)
}

/** Replaces the timers by fake ones. They advance with real time, and by hours when the test says so. */
export function useFakeClock(): (milliseconds: number) => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  return (milliseconds) => void vi.advanceTimersByTime(milliseconds)
}

/** The waiting item with that id. */
export async function showPending(system: Quartermaster, callId: string): Promise<PendingItem> {
  const item = await system.approvals.show(callId)
  if (item === undefined) throw new Error(`Call ${callId} does not wait.`)
  return item
}

/** Approves the call and throws if that did not settle it. */
export async function approvePending(system: Quartermaster, callId: string, by = "ann"): Promise<void> {
  const result = await system.approvals.answer(callId, { kind: "approve" }, by)
  if (!result.ok || !result.done) throw new Error(`The approval of ${callId} did not settle it: ${result.sentence}`)
}

/** Changes columns of a stored call directly in the database. */
export function changeRow(dir: string, callId: string, change: (row: StoredRow) => Partial<StoredRow>): Promise<void> {
  return withSecondConnection(dir, (database) => {
    const row = database.prepare("select * from calls where id = ?").get(callId) as StoredRow | undefined
    if (row === undefined) throw new Error(`There is no call ${callId} to change.`)
    for (const [column, value] of Object.entries(change(row))) {
      database.prepare(`update calls set ${column} = ? where id = ?`).run(value as string, callId)
    }
  })
}

/** Moves the deadline of a waiting call into the past. */
export function expireDeadline(dir: string, callId: string): Promise<void> {
  return changeRow(dir, callId, () => ({ deadline: Date.now() - 1 }))
}

/** A row as it is in its table: texts are JSON. */
export type StoredRow = Record<
  "agent_id" | "asks" | "input" | "request" | "answer" | "owner" | "state" | "card" | "tool",
  string
> & {
  revision: number
  deadline: number
  wanted: number
}
