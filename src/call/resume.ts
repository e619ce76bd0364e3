import type { CallRequest, CallRow } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import type { Ticket, ToolResult } from "../model/result.ts"
import { endAbandoned, nobodyWalks } from "./abandoned.ts"
import { storedRequest } from "./states.ts"
import { ticketOf } from "./answer.ts"
import { callTool } from "./call.ts"
import { inDialect } from "./dialect.ts"

/**
 * Goes on with a stored call: it walks from the beginning again and enters at its stored state. A call another process
 * walks is waited for; one whose process died while the tool ran is interrupted, never run again.
 */
export async function resume(
  callId: string,
  ports: Ports,
  patienceMs?: number,
  by: Pick<CallRequest, "caller" | "signal"> = {},
): Promise<ToolResult | Ticket | undefined> {
  const until = patienceMs === undefined ? Infinity : ports.now() + patienceMs
  for (let row = await ports.calls.get(callId); row !== undefined; row = await ports.calls.get(callId)) {
    if (row.state === "ended" && row.result !== null) return told(row, row.result, ports)
    if (await nobodyWalks(row, ports)) {
      const ended = await endAbandoned(row, ports)
      if (ended !== undefined) return ended
      if (row.workspace !== ports.settings.workspace) {
        throw new Error(`Call ${callId} belongs to the folder ${row.workspace}. Go on with it from there.`)
      }
      const claimed = row.state === "started" ? undefined : await take(row, ports)
      if (claimed !== undefined)
        return callTool({ ...requestOf(claimed), ...by }, ports, {
          row: claimed,
          patienceMs,
          sessionId: storedRequest(claimed).sessionId,
        })
    }
    const now = ports.now()
    if (now >= until || ports.closing.aborted || by.signal?.aborted === true) return ticketOf(row)
    await ports.calls.waitForChange(callId, Math.max(1, Math.min(1000, until - now)), [by.signal, ports.closing])
  }
  return undefined
}

function told(row: CallRow, result: ToolResult, ports: Ports): ToolResult {
  const who = ports.organisation.view(row.agentId)
  const alias = ports.tools.alias(storedRequest(row).given.tool, who)
  return inDialect({ alias, who, input: {} }, result, ports)
}

async function take(row: CallRow, ports: Ports): Promise<CallRow | undefined> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  return (await ports.calls.swap(row.id, { state, owner, epoch }, change)) ? { ...row, ...change } : undefined
}

function requestOf(row: CallRow): CallRequest {
  return { ...storedRequest(row).given, input: JSON.parse(row.input ?? "{}") as unknown }
}
