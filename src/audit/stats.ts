import type { AuditHour, AuditStats, AuditWait, ToolCount } from "./audit-reader.ts"
import type { AuditFilter } from "../store/port.ts"
import { auditWhere } from "./where.ts"
import type { Database } from "../store/sqlite/database.ts"
import { snapshot } from "../store/sqlite/snapshot.ts"
import { bucketOf, hourMs } from "../store/sqlite/sums.ts"

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

/**
 * Counts the ended calls of each hour by ending and by time: whole hours from their sums, the beginning and the end from the
 * calls themselves.
 */
export function hoursOf(database: Database, filter: AuditFilter): AuditHour[] {
  const counted = snapshot(database, () =>
    isSummed(filter) ? summedHours(database, filter) : callHours(database, filter),
  )
  const hours = new Map<number, { byEnding: Record<string, number>; times: Map<number, number> }>()
  for (const { hour, ms, ending, count } of counted) {
    const { byEnding, times } = hours.get(hour) ?? { byEnding: {}, times: new Map<number, number>() }
    hours.set(hour, { byEnding, times })
    byEnding[ending] = (byEnding[ending] ?? 0) + count
    times.set(ms, (times.get(ms) ?? 0) + count)
  }
  return [...hours]
    .sort(([one], [other]) => one - other)
    .map(([hour, { byEnding, times }]) => ({
      at: hour * hourMs,
      byEnding,
      times: [...times].sort(([one], [other]) => one - other).map(([ms, count]) => ({ ms, count })),
    }))
}

/** The tools with most calls first. */
export function toolsOf(database: Database, filter: AuditFilter, most: number): ToolCount[] {
  const rows = snapshot(database, () =>
    isSummed(filter) ? summedTools(database, filter) : callTools(database, filter),
  )
  const tools = new Map<string, { count: number; failures: number; ms: number }>()
  for (const { tool, count, failures, ms } of rows) {
    const before = tools.get(tool) ?? { count: 0, failures: 0, ms: 0 }
    tools.set(tool, { count: before.count + count, failures: before.failures + failures, ms: before.ms + ms })
  }
  return [...tools]
    .map(([tool, { count, failures, ms }]) => ({ tool, count, failures, averageMs: ms / count }))
    .sort((one, other) => other.count - one.count || (one.tool < other.tool ? -1 : 1))
    .slice(0, most)
}

/** The answers of people, oldest first: when each came, and how long the call had waited. */
export function waitsIn(database: Database, { agentId, tool, since = 0, until, ...rest }: AuditFilter): AuditWait[] {
  const { sql, values } = auditWhere(rest)
  const ofCall = sql === "" ? "" : ` and call in (select call from ended${sql})`
  const named = Object.entries({ agent: agentId, tool }).filter(([, value]) => value !== undefined) as [
    string,
    string,
  ][]
  return database
    .prepare(
      `select answered_at as at, answered_at - asked_at as ms, agent as agentId, tool from waits
       where answered_at >= ? and answered_at < ? and asked_at is not null
       ${named.map(([column]) => `and ${column} = ?`).join(" ")}${ofCall} order by answered_at`,
    )
    .all(
      since,
      until ?? Number.MAX_SAFE_INTEGER,
      ...named.map(([, value]) => value),
      ...values,
    ) as unknown as AuditWait[]
}

/** For how many calls since then each rule gave a reason, by the hash in its reasons. Counts whole hours. */
export function rulesSince(database: Database, since: number): Map<string, number> {
  const rows = database
    .prepare("select rule, sum(count) as count from rule_hours where hour >= ? group by rule")
    .all(Math.floor(since / hourMs)) as { rule: string; count: number }[]
  return new Map(rows.map(({ rule, count }) => [rule, count]))
}

/** Reports whether the sums can answer: they know agents, tools, endings and hours. */
function isSummed({ taskId, withEntry, oneOf }: AuditFilter): boolean {
  return taskId === undefined && withEntry === undefined && oneOf === undefined
}

/** The hours that are wholly in the filter's time, and the times before and after them. */
function splitTime({ since = 0, until = Number.MAX_SAFE_INTEGER }: AuditFilter) {
  const first = Math.ceil(since / hourMs)
  const end = Math.floor(until / hourMs)
  // All of it is within one hour.
  if (end < first) return { first, end, edges: [{ since, until }] }
  const edges = [
    { since, until: first * hourMs },
    { since: end * hourMs, until },
  ]
  return { first, end, edges: edges.filter((edge) => edge.since < edge.until) }
}

interface HourRow {
  hour: number
  ms: number
  ending: string
  count: number
}

function summedHours(database: Database, filter: AuditFilter): HourRow[] {
  const { first, end, edges } = splitTime(filter)
  const { sql, values } = endingWhere(filter)
  const whole = database
    .prepare(
      `select hour, bucket as ms, ending, count from hour_sums
       where agent = ? and tool = ? and hour >= ? and hour < ?${sql}`,
    )
    .all(filter.agentId ?? "", filter.tool ?? "", first, end, ...values) as unknown as HourRow[]
  return [...whole, ...edges.flatMap((edge) => callHours(database, { ...filter, ...edge }))]
}

function callHours(database: Database, filter: AuditFilter): HourRow[] {
  const { sql, values } = auditWhere(filter)
  return database
    .prepare(
      `select at / ${hourMs} as hour, ${bucketOf("duration_ms")} as ms, ending, count(*) as count from ended${sql}
       group by 1, 2, 3`,
    )
    .all(...values) as unknown as HourRow[]
}

interface ToolRow {
  tool: string
  count: number
  failures: number
  ms: number
}

function summedTools(database: Database, filter: AuditFilter): ToolRow[] {
  const { first, end, edges } = splitTime(filter)
  const { sql, values } = endingWhere(filter)
  const [which, named] = filter.tool === undefined ? ["tool <> ''", []] : ["tool = ?", [filter.tool]]
  const whole = database
    .prepare(
      `select tool, sum(count) as count, sum(case when ending <> 'success' then count else 0 end) as failures, sum(ms) as ms
       from hour_sums where agent = ? and ${which} and hour >= ? and hour < ?${sql} group by tool`,
    )
    .all(filter.agentId ?? "", ...named, first, end, ...values) as unknown as ToolRow[]
  return [...whole, ...edges.flatMap((edge) => callTools(database, { ...filter, ...edge }))]
}

function callTools(database: Database, filter: AuditFilter): ToolRow[] {
  const { sql, values } = auditWhere(filter)
  return database
    .prepare(
      `select tool, count(*) as count, sum(ending <> 'success') as failures, sum(duration_ms) as ms
       from ended${sql} group by tool`,
    )
    .all(...values) as unknown as ToolRow[]
}

/** The conditions of the filter on endings, for the sums. */
function endingWhere({ status, codes }: AuditFilter): { sql: string; values: (string | number)[] } {
  const { sql, values } = auditWhere({
    ...(status === undefined ? {} : { status }),
    ...(codes === undefined ? {} : { codes }),
  })
  return { sql: sql.replace(" where", " and"), values }
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
