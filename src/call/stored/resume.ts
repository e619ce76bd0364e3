import type { CallRequest, CallRow } from "../../core/call.ts"
import type { Ports } from "../state/ports.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import { endAbandoned, hasNoLiveOwner } from "./abandoned.ts"
import { storedRequest } from "../../store/stored-request.ts"
import { ticketOf } from "./rows.ts"
import type { CallTool } from "../state/active-call.ts"
import { inDialect } from "../state/dialect.ts"

/** Options of the wait for a resumed call. */
export interface ResumeOptions extends Pick<CallRequest, "caller" | "signal"> {
  /** Milliseconds to wait before giving a ticket. Without it, the caller waits to the end. */
  waitMs?: number
  /** True to only look: a call that no process has is not continued. */
  watch?: boolean
}

/**
 * Continues a stored call: it takes all steps again from the beginning, with its stored state. If another process has
 * the call, this waits for it. If that process died while the tool ran, the call is interrupted and never run again.
 */
export async function resume(
  callId: string,
  ports: Ports,
  callTool: CallTool,
  { waitMs, watch = false, ...by }: ResumeOptions = {},
): Promise<ToolResult | Ticket | undefined> {
  const until = waitMs === undefined ? Infinity : ports.now() + waitMs
  for (let row = await ports.calls.get(callId); row !== undefined; row = await ports.calls.get(callId)) {
    if (row.state === "ended" && row.result !== null) return inCallersDialect(row, row.result, ports)
    // A call that its caller runs goes on only when the caller makes it again.
    const isElsewhere = storedRequest(row).given.elsewhere !== undefined
    if (!watch && (await hasNoLiveOwner(row, ports))) {
      const ended = await endAbandoned(row, ports)
      if (ended !== undefined) return inCallersDialect(row, ended, ports)
      if (!isElsewhere && row.workspace !== ports.settings.workspace) {
        throw new Error(`Call ${callId} belongs to the folder ${row.workspace}. Go on with it from there.`)
      }
      const claimed = row.state === "started" || isElsewhere ? undefined : await takeOver(row, ports)
      if (claimed !== undefined) {
        const { sessionId } = storedRequest(claimed)
        return callTool({ ...requestOf(claimed), ...by }, ports, { row: claimed, waitMs, sessionId })
      }
    }
    const now = ports.now()
    if (now >= until || ports.closing.aborted || by.signal?.aborted === true) return ticketOf(row)
    await ports.calls.waitForChange(callId, Math.max(1, Math.min(1000, until - now)), [by.signal, ports.closing])
  }
  return undefined
}

function inCallersDialect(row: CallRow, result: ToolResult, ports: Ports): ToolResult {
  const who = ports.organisation.view(row.agentId)
  const alias = ports.tools.alias(storedRequest(row).given.tool, who)
  return inDialect({ alias, who, input: {} }, result, ports)
}

async function takeOver(row: CallRow, ports: Ports): Promise<CallRow | undefined> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  return (await ports.calls.swap(row.id, { state, owner, epoch }, change)) ? { ...row, ...change } : undefined
}

function requestOf(row: CallRow): CallRequest {
  return { ...storedRequest(row).given, input: JSON.parse(row.input ?? "{}") as unknown }
}
