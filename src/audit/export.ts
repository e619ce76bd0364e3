import { setImmediate as turn } from "node:timers/promises"
import type { ExportedCall } from "./audit-reader.ts"
import type { AuditFilter } from "../store/port.ts"
import type { EndEntry, AuditEntry, StartEntry } from "../core/audit-entry.ts"
import { auditWhere } from "./where.ts"
import { retryWhileBusy, type Database } from "../store/sqlite/database.ts"
import { entryReader } from "../store/sqlite/entry-reader.ts"
import type { EndedRow } from "../store/sqlite/tables.ts"

const pageSize = 500

/**
 * Every ended call that matches the filter, oldest first, a page at a time. Calls that end after the export began are
 * left out, so that it finishes while other processes keep writing.
 */
export async function* exportEndedCalls(database: Database, filter: AuditFilter): AsyncGenerator<ExportedCall> {
  const entryAt = entryReader(database)
  const until = Math.min(filter.until ?? Infinity, Date.now() + 1)
  let left = filter.limit ?? Infinity
  for (let after: Cursor | undefined = { at: filter.since ?? 0, place: -1 }; after !== undefined && left > 0;) {
    const page = await retryWhileBusy(() => pageAfter(database, { ...filter, until }, after!, Math.min(pageSize, left)))
    for (const row of page) yield exported(row, entryAt(row.place), startOf(database, row, entryAt))
    left -= page.length
    after = page.at(-1)
    await turn()
  }
}

type Cursor = Pick<EndedRow, "at" | "place">

/** One page in the order of time. The index has that order; sorting for every page would be quadratic. */
function pageAfter(database: Database, filter: AuditFilter, after: Cursor, limit: number): EndedRow[] {
  const { since: _since, ...withoutSince } = filter
  const { sql, values } = auditWhere(withoutSince)
  const index = indexFor(filter)
  return database
    .prepare(`select * from ended indexed by ${index}${sql} and (at, place) > (?, ?) order by at, place limit ?`)
    .all(...values, after.at, after.place, limit) as unknown as EndedRow[]
}

function indexFor({ agentId, tool, taskId }: AuditFilter): string {
  if (taskId !== undefined) return "ended_task"
  return agentId !== undefined && tool !== undefined ? "ended_agent" : "ended_at"
}

/** The start of a call is in the same chain, or, when its process died, in the chain of that process. */
function startOf(
  database: Database,
  row: EndedRow,
  entryAt: (place: number) => AuditEntry | undefined,
): StartEntry | undefined {
  const place = row.start_place ?? startInOtherChain(database, row.call)
  const entry = place === undefined ? undefined : entryAt(place)
  return entry?.kind === "start" ? entry : undefined
}

function startInOtherChain(database: Database, call: string): number | undefined {
  const row = database.prepare("select place from steps where call = ? and kind = 'start'").get(call)
  return (row as { place: number } | undefined)?.place
}

function exported(row: EndedRow, entry: AuditEntry | undefined, start: StartEntry | undefined): ExportedCall {
  const end: Partial<EndEntry> = entry?.kind === "end" ? entry : {}
  const reasons = [...(start?.reasons ?? []), ...(end.reasons ?? [])]
  return {
    callId: row.call,
    at: row.at,
    agentId: row.agent,
    role: row.role || (start?.role ?? ""),
    tool: row.tool,
    version: start?.version ?? end.version ?? "",
    status: end.status ?? "",
    code: end.code ?? "",
    startedAt: end.startedAt ?? start?.at ?? 0,
    durationMs: row.duration_ms,
    sessionId: start?.sessionId ?? end.sessionId ?? "",
    taskId: start?.taskId ?? end.taskId ?? "",
    userId: start?.userId ?? end.userId ?? "",
    parentCallId: start?.parentCallId ?? end.parentCallId ?? "",
    input: start?.input ?? end.input ?? "",
    inputDigest: start?.inputDigest ?? end.inputDigest ?? "",
    result: end.result ?? "",
    error: end.error ?? "",
    reasons: reasons.length === 0 ? "" : JSON.stringify(reasons),
    policy: start?.policy ?? end.policy ?? "",
  }
}
