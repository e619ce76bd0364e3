import type { Calls } from "../state/calls.ts"
import type { CallRow, CallState, UnwantedCalls } from "../../core/call.ts"
import type { Ports } from "../state/ports.ts"
import { isTicket, type ToolResult } from "../../core/result.ts"
import { endAbandoned, endAs, hasNoLiveOwner } from "./abandoned.ts"

const page = 500
const notBegun = new Set<CallState>(["decided", "waiting", "ready", "held"])

/**
 * Ends the calls of a session that have not run or whose results are held, as far as no process has them. Returns the
 * results that are asked for, by key: those that have run keep theirs.
 */
export async function endUnwanted(
  unwanted: UnwantedCalls,
  ports: Ports,
  resume: Calls["resume"],
): Promise<Map<string, ToolResult>> {
  const { sessionId, agentId, because } = unwanted
  const keys = new Set(unwanted.keys)
  const results = new Map<string, ToolResult>()
  for (let after: CallRow | undefined; ;) {
    const rows = await ports.calls.list({ sessionId, agentId, limit: page, ...(after && { after }) })
    for (const found of rows) {
      const row = notBegun.has(found.state) ? await end(found, because, ports) : found
      if (row.key === null || !keys.has(row.key) || notBegun.has(row.state)) continue
      if (row.state === "ended" && row.result === null) continue
      const ended = await resume(row.id, { waitMs: 0 })
      if (!isTicket(ended)) results.set(row.key, ended)
    }
    after = rows.at(-1)
    if (rows.length < page) return results
  }
}

/** Returns the row as it is then. A person may answer at this moment: then it is ended all the same. */
async function end(found: CallRow, because: string, ports: Ports): Promise<CallRow> {
  let row = found
  while (notBegun.has(row.state) && (await hasNoLiveOwner(row, ports))) {
    const ran = row.state === "held"
    const sentence = ran ? `${because} The tool had run; its result was not released.` : because
    if ((await endAbandoned(row, ports)) === undefined) await endAs(row, { code: "aborted", sentence, ran }, ports)
    row = (await ports.calls.get(row.id)) ?? { ...row, state: "ended" }
  }
  return row
}
