import { setImmediate as turn } from "node:timers/promises"
import type { ExportedCall } from "../model/app.ts"
import type { AuditFilter } from "../model/ports.ts"
import type { EndEntry, RecordEntry, StartEntry } from "../model/record.ts"
import { where } from "./audit-where.ts"
import { whenFree, type Database } from "./database.ts"
import { lineReader } from "./lines.ts"
import type { EndedRow } from "./tables.ts"

const pageSize = 500

/**
 * Every ended call that the filter lets through, oldest first, a page at a time. What ends after the export began is
 * not in it, so that it comes to an end beside busy writers.
 */
export async function* exportCalls(database: Database, filter: AuditFilter): AsyncGenerator<ExportedCall> {
  const line = lineReader(database)
  const until = Math.min(filter.until ?? Infinity, Date.now() + 1)
  let left = filter.limit ?? Infinity
  for (let after: Cursor | undefined = { at: filter.since ?? 0, place: -1 }; after !== undefined && left > 0;) {
    const page = await whenFree(() => pageAfter(database, { ...filter, until }, after!, Math.min(pageSize, left)))
    for (const row of page) yield exported(row, line(row.place), startOf(database, row, line))
    left -= page.length
    after = page.at(-1)
    await turn()
  }
}

type Cursor = Pick<EndedRow, "at" | "place">

/** In the order of time, by an index that has it: sorting for every page would cost the square of the whole. */
function pageAfter(database: Database, filter: AuditFilter, after: Cursor, limit: number): EndedRow[] {
  const { since: _since, ...rest } = filter
  const { sql, values } = where(rest)
  const index = filter.agentId !== undefined && filter.tool !== undefined ? "ended_agent" : "ended_at"
  return database
    .prepare(`select * from ended indexed by ${index}${sql} and (at, place) > (?, ?) order by at, place limit ?`)
    .all(...values, after.at, after.place, limit) as unknown as EndedRow[]
}

/** The start stands in the same chain, or, when the process was lost, in the one it wrote. */
function startOf(
  database: Database,
  row: EndedRow,
  line: (place: number) => RecordEntry | undefined,
): StartEntry | undefined {
  const place = row.start_place ?? startElsewhere(database, row.call)
  const entry = place === undefined ? undefined : line(place)
  return entry?.kind === "start" ? entry : undefined
}

function startElsewhere(database: Database, call: string): number | undefined {
  const row = database.prepare("select place from steps where call = ? and kind = 'start'").get(call)
  return (row as { place: number } | undefined)?.place
}

function exported(row: EndedRow, entry: RecordEntry | undefined, start: StartEntry | undefined): ExportedCall {
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
