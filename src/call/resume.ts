import type { CallRequest, CallRow } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import type { Ticket, ToolResult } from "../model/result.ts"
import { ticketOf } from "./answer.ts"
import { callTool } from "./call.ts"
import { interrupt, nobodyWalks } from "./join.ts"

/**
 * Goes on with a stored call: it walks from the beginning again and enters at its stored state. A call another process
 * walks is waited for; one whose process died while the tool ran is interrupted, never run again.
 */
export async function resume(callId: string, ports: Ports, patienceMs?: number): Promise<ToolResult | Ticket | undefined> {
  const until = patienceMs === undefined ? Infinity : ports.now() + patienceMs
  for (let row = await ports.calls.get(callId); row !== undefined; row = await ports.calls.get(callId)) {
    if (row.state === "ended") return row.result ?? (await interrupt(row, ports))
    if (nobodyWalks(row, ports)) {
      if (row.state === "started") return interrupt(row, ports)
      const claimed = await take(row, ports)
      if (claimed !== undefined) return callTool(requestOf(claimed), ports, { row: claimed, patienceMs })
    }
    const now = ports.now()
    if (now >= until || ports.closing()) return ticketOf(row)
    await ports.calls.waitForChange(callId, Math.max(1, Math.min(250, until - now)))
  }
  return undefined
}

/** Ends what nobody came back for: waits past their deadline, and what a dead process left. */
export async function sweep(ports: Ports): Promise<void> {
  const rows = await ports.calls.list({ states: ["decided", "waiting", "ready", "started", "held", "released"] })
  for (const row of rows) {
    if (!nobodyWalks(row, ports)) continue
    const over = row.deadline !== null && row.deadline < ports.now()
    if (row.state === "started" || row.state === "decided") await interrupt(row, ports)
    else if (over) await resume(row.id, ports, 0)
  }
}

async function take(row: CallRow, ports: Ports): Promise<CallRow | undefined> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  return (await ports.calls.swap(row.id, { state, owner, epoch }, change)) ? { ...row, ...change } : undefined
}

function requestOf(row: CallRow): CallRequest {
  return { ...(JSON.parse(row.request) as Omit<CallRequest, "input">), input: JSON.parse(row.input ?? "{}") as unknown }
}
