import type { AuditFilter } from "../model/ports.ts"
import { endings } from "../model/result.ts"

export interface Condition {
  sql: string
  values: (string | number)[]
}

/** What a filter means for the table of ended calls; `sql` is empty, or begins with the word `where`. */
export function where(filter: AuditFilter): Condition {
  const parts: [string, readonly (string | number)[]][] = []
  if (filter.agentId !== undefined) parts.push(["agent = ?", [filter.agentId]])
  if (filter.tool !== undefined) parts.push(["tool = ?", [filter.tool]])
  if (filter.status !== undefined) {
    const those = endingsWith(filter.status)
    parts.push([`ending in (${those.map(() => "?").join()})`, those])
  }
  if (filter.since !== undefined) parts.push(["at >= ?", [filter.since]])
  if (filter.until !== undefined) parts.push(["at < ?", [filter.until]])
  const sql = parts.length === 0 ? "" : ` where ${parts.map(([text]) => text).join(" and ")}`
  return { sql, values: parts.flatMap(([, values]) => values) }
}

/** A status stands for all its codes; a code stands for itself. */
function endingsWith(status: string): string[] {
  const codes = Object.entries(endings).filter(([code, ending]) => ending.status === status || code === status)
  return [status, ...codes.map(([code]) => code)]
}
