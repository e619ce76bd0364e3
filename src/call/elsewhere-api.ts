import { Ending } from "../core/ending.ts"
import type { CallRow, ReportedOutcome, RunningElsewhere } from "../core/call.ts"
import type { Ports } from "./state/ports.ts"
import type { Ticket, ToolResult } from "../core/result.ts"
import { storedRequest } from "../store/stored-request.ts"
import { endElsewhere } from "./call.ts"
import { endAs } from "./stored/abandoned.ts"
import { ticketOf } from "./stored/rows.ts"

interface Filter {
  agentId?: string
  sessionId: string
}

/** The calls whose tools their callers run, from their start to what is reported of them. */
export function elsewhereApi(ports: Ports, counted: <T>(work: () => Promise<T>) => Promise<T>) {
  const rowsOf = async (filter: Filter): Promise<CallRow[]> => {
    const rows = await ports.calls.list({ ...filter, states: ["started"] })
    return rows.filter((row) => row.owner === "" && storedRequest(row).given.elsewhere !== undefined)
  }
  return {
    /** Those that were let through in a session and have no end yet, the oldest first. */
    async list(filter: Filter): Promise<RunningElsewhere[]> {
      const rows = await rowsOf(filter)
      return rows.map((row) => {
        const { given, started } = storedRequest(row)
        const { id, agentId, tool, deadline, answer, card } = row
        const input = JSON.parse(row.input ?? "{}") as unknown
        const run = { input, edited: card.editedBy !== undefined, note: answer?.note, ask: started?.ask }
        return {
          callId: id,
          agentId,
          tool,
          calledAs: given.tool,
          id: given.elsewhere?.callId,
          until: deadline ?? 0,
          run,
        }
      })
    },

    /** Ends one with what came of it. A result that a person must release waits `waitMs`, then this is a ticket. */
    report(callId: string, outcome: ReportedOutcome, options: { waitMs?: number } = {}): Promise<ToolResult | Ticket> {
      return counted(async () => {
        const row = await ports.calls.get(callId)
        if (row === undefined) throw new Error(`There is no call '${callId}' that still runs.`)
        const claimed = row.state === "started" && row.owner === "" ? await claimStarted(row, ports) : undefined
        if (claimed === undefined) return row.result ?? ticketOf(row)
        const ending =
          "failed" in outcome ? { ending: new Ending("tool_failed", outcome.failed) } : { value: outcome.value }
        return endElsewhere(claimed, ending, ports, options)
      })
    },

    /** Ends all of a session of which nothing will be reported any more: what came of them is not known. */
    endSession(filter: Filter, because: string): Promise<number> {
      return counted(async () => {
        let ended = 0
        for (const row of await rowsOf(filter))
          if ((await endAs(row, { code: "unknown_outcome", sentence: because, ran: true }, ports)) !== undefined)
            ended++
        return ended
      })
    },
  }
}

/** Undefined when another process was first: a report counts once. */
async function claimStarted(row: CallRow, ports: Ports): Promise<CallRow | undefined> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  return (await ports.calls.swap(row.id, { state, owner, epoch }, change)) ? { ...row, ...change } : undefined
}
