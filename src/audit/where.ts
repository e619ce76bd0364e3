import type { AuditFilter } from "../store/port.ts"
import { endings } from "../core/result.ts"

export interface AuditCondition {
  sql: string
  values: (string | number)[]
}

/** A filter as SQL for the table of ended calls. `sql` is empty or begins with ` where`. */
export function auditWhere(filter: AuditFilter): AuditCondition {
  const parts: [string, readonly (string | number)[]][] = []
  if (filter.agentId !== undefined) parts.push(["agent = ?", [filter.agentId]])
  if (filter.tool !== undefined) parts.push(["tool = ?", [filter.tool]])
  // The second condition lets SQLite use the index, which has only calls with a task.
  if (filter.taskId !== undefined) parts.push(["task = ? and task <> ''", [filter.taskId]])
  if (filter.status !== undefined) {
    const matching = endingsWith(filter.status)
    parts.push([`ending in (${marks(matching)})`, matching])
  }
  if (filter.codes !== undefined) parts.push([`ending in (${marks(filter.codes)})`, filter.codes])
  if (filter.withEntry !== undefined) {
    const step = `select 1 from steps where steps.call = ended.call and steps.kind in (${marks(filter.withEntry)})`
    parts.push([`exists (${step})`, filter.withEntry])
  }
  // Calls often have the same number of entries. Shuffled by a prime, their places are not all multiples of the same number.
  if (filter.oneOf !== undefined) parts.push(["place % 9973 * 7919 % 9973 % ? = 0", [filter.oneOf]])
  if (filter.since !== undefined) parts.push(["at >= ?", [filter.since]])
  if (filter.until !== undefined) parts.push(["at < ?", [filter.until]])
  const sql = parts.length === 0 ? "" : ` where ${parts.map(([text]) => text).join(" and ")}`
  return { sql, values: parts.flatMap(([, values]) => values) }
}

function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join()
}

/** A status matches all its codes; a code matches itself. */
function endingsWith(status: string): string[] {
  const codes = Object.entries(endings).filter(([code, ending]) => ending.status === status || code === status)
  return [status, ...codes.map(([code]) => code)]
}
