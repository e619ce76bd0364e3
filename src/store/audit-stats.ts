import type { AuditStats } from "../model/app.ts"
import type { AuditFilter } from "../model/ports.ts"
import { where } from "./audit-where.ts"
import type { Database } from "./database.ts"
import { snapshot } from "./snapshot.ts"

const hourMs = 3_600_000

/** Counts the ended calls, all of them at one moment. */
export function statsOf(database: Database, filter: AuditFilter): AuditStats {
  return snapshot(database, () => {
    const by = (column: string) => counted(database, filter, column)
    const endings = by("ending")
    const sum = (of: (row: Counted) => number) => endings.reduce((total, row) => total + of(row), 0)
    return {
      total: sum((row) => row.count),
      failures: sum((row) => row.failures),
      byTool: named(by("tool"), ({ count, failures, averageMs }) => ({ count, failures, averageMs })),
      byAgent: named(by("agent"), counts),
      byRole: named(by("role"), counts),
      byEnding: named(endings, (row) => row.count),
      byHour: named(by(`at / ${hourMs}`).map(withHour), counts),
    }
  })
}

interface Counted {
  name: string | number
  count: number
  failures: number
  averageMs: number
}

function counted(database: Database, filter: AuditFilter, column: string): Counted[] {
  const { sql, values } = where(filter)
  return database
    .prepare(
      `select ${column} as name, count(*) as count, sum(ending <> 'success') as failures, avg(duration_ms) as averageMs
       from ended${sql} group by 1 order by 1`,
    )
    .all(...values) as unknown as Counted[]
}

const counts = ({ count, failures }: Counted) => ({ count, failures })

/** Names come from agents and tools, and one may be called `__proto__`. */
function named<T>(rows: readonly Counted[], value: (row: Counted) => T): Record<string, T> {
  return Object.fromEntries(rows.map((row) => [String(row.name), value(row)]))
}

function withHour(row: Counted): Counted {
  return { ...row, name: new Date(Number(row.name) * hourMs).toISOString().slice(0, 13) }
}
