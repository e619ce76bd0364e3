import { onTestFinished, vi } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../quartermaster.ts"
import type { DeskItem } from "../model/approval.ts"
import type { CallRequest } from "../model/call.ts"
import { isTicket, type Ticket, type ToolResult } from "../model/result.ts"
import { goAround } from "../store/testing.ts"

/** An input of one number, for tools whose calls are to differ. */
export const oneNumber = z.object({ n: z.number().default(1) }) as never

/** The person who changes the organisation in tests. */
export const admin = { kind: "person", id: "ann" } as const

export function ticketOf(answer: ToolResult | Ticket): Ticket {
  if (!isTicket(answer)) throw new Error(`Expected a ticket, got ${JSON.stringify(answer)}`)
  return answer
}

/** A call of `probe` that waits at the desk while nobody walks it. */
export async function leave(system: Quartermaster, request: Partial<CallRequest> = {}): Promise<DeskItem> {
  const asked = { agentId: "operator", tool: "probe", input: {}, ...request }
  const { callId } = ticketOf(await system.submit(asked, { waitMs: 0 }))
  return onDesk(system, callId)
}

/** Time limits by a clock of the test: they run with the day's, and hours pass at once where the test says so. */
export function ownTime(): (milliseconds: number) => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  return (milliseconds) => void vi.advanceTimersByTime(milliseconds)
}

/** What stands at the desk under that id. */
export async function onDesk(system: Quartermaster, callId: string): Promise<DeskItem> {
  const item = await system.desk.show(callId)
  if (item === undefined) throw new Error(`Call ${callId} does not wait.`)
  return item
}

/** Says yes and complains when it did not count. */
export async function approve(system: Quartermaster, callId: string, by = "ann"): Promise<void> {
  const heard = await system.desk.say(callId, { say: "approve" }, by)
  if (!heard.ok || !heard.done) throw new Error(`The yes to ${callId} did not settle it: ${heard.sentence}`)
}

/** Changes one column of a stored call, going around the house. */
export function changeRow(dir: string, callId: string, change: (row: Row) => Partial<Row>): Promise<void> {
  return goAround(dir, (database) => {
    const row = database.prepare("select * from calls where id = ?").get(callId) as Row | undefined
    if (row === undefined) throw new Error(`There is no call ${callId} to change.`)
    for (const [column, value] of Object.entries(change(row))) {
      database.prepare(`update calls set ${column} = ? where id = ?`).run(value as string, callId)
    }
  })
}

/** Lets the deadline of a call that waits be over. */
export function endTime(dir: string, callId: string): Promise<void> {
  return changeRow(dir, callId, () => ({ deadline: Date.now() - 1 }))
}

/** A row as it is in its table: texts are JSON. */
export type Row = Record<"agent_id" | "input" | "request" | "answer" | "owner" | "state" | "card" | "tool", string> & {
  revision: number
  deadline: number
}
