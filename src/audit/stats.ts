import type { AuditHour, AuditStats } from "./audit-reader.ts"
import type { AuditFilter } from "../store/port.ts"
import { auditWhere } from "./where.ts"
import type { Database } from "../store/sqlite/database.ts"
import { snapshot } from "../store/sqlite/snapshot.ts"

const hourMs = 3_600_000

/** Counts the ended calls. All counts are from the same moment. */
export function statsOf(database: Database, filter: AuditFilter): AuditStats {
  return snapshot(database, () => {
    const by = (column: string) => countBy(database, filter, column)
    const endings = by("ending")
    const sum = (value: (row: CountRow) => number) => endings.reduce((total, row) => total + value(row), 0)
    return {
      total: sum((row) => row.count),
      failures: sum((row) => row.failures),
      byTool: byName(by("tool"), ({ count, failures, averageMs }) => ({ count, failures, averageMs })),
      byAgent: byName(by("agent"), counts),
      byRole: byName(by("role"), counts),
      byEnding: byName(endings, (row) => row.count),
      byHour: byName(by(`at / ${hourMs}`).map(withHour), counts),
    }
  })
}

/** Counts the ended calls of each hour by ending and by time, in one pass over the table. */
export function hoursOf(database: Database, filter: AuditFilter): AuditHour[] {
  const { sql, values } = auditWhere(filter)
  const rows = database
    .prepare(
      `select at / ${hourMs} as hour, duration_ms as ms, ending, count(*) as count from ended${sql}
       group by 1, 2, 3 order by 1, 2`,
    )
    .all(...values) as unknown as { hour: number; ms: number; ending: string; count: number }[]
  const hours = new Map<number, { byEnding: Record<string, number>; times: { ms: number; count: number }[] }>()
  for (const { hour, ms, ending, count } of rows) {
    const { byEnding, times } = hours.get(hour) ?? { byEnding: {}, times: [] }
    hours.set(hour, { byEnding, times })
    byEnding[ending] = (byEnding[ending] ?? 0) + count
    const last = times.at(-1)
    if (last?.ms === ms) last.count += count
    else times.push({ ms, count })
  }
  return [...hours].map(([hour, counted]) => ({ at: hour * hourMs, ...counted }))
}

interface CountRow {
  name: string | number
  count: number
  failures: number
  averageMs: number
}

function countBy(database: Database, filter: AuditFilter, column: string): CountRow[] {
  const { sql, values } = auditWhere(filter)
  return database
    .prepare(
      `select ${column} as name, count(*) as count, sum(ending <> 'success') as failures, avg(duration_ms) as averageMs
       from ended${sql} group by 1 order by 1`,
    )
    .all(...values) as unknown as CountRow[]
}

const counts = ({ count, failures }: CountRow) => ({ count, failures })

/** With `fromEntries`, because an agent or a tool may be named `__proto__`. */
function byName<T>(rows: readonly CountRow[], value: (row: CountRow) => T): Record<string, T> {
  return Object.fromEntries(rows.map((row) => [String(row.name), value(row)]))
}

function withHour(row: CountRow): CountRow {
  return { ...row, name: new Date(Number(row.name) * hourMs).toISOString().slice(0, 13) }
}
