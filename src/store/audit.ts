import type { RecordKey } from "./key.ts"
import type { AuditReader, AuditStats, Verified } from "../model/app.ts"
import type { AuditFilter, AuditRow } from "../model/ports.ts"
import type { RecordEntry } from "../model/record.ts"
import { endings, type EndingCode } from "../model/result.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { lineAt } from "./lines.ts"
import { catchUp, type Journals } from "./mover.ts"
import type { EndedRow } from "./tables.ts"
import { verifyRecord } from "./verify.ts"

/** Reads the record. Every reader first moves what is still in journals, also those of processes that died. */
export class Audit implements AuditReader {
  readonly #journals: Journals

  constructor(database: Database, key: RecordKey, journalDir: string) {
    this.#journals = { database, key, dir: journalDir }
  }

  get #database(): Database {
    return this.#journals.database
  }

  /** Moves what is left in the journals. */
  catchUp(): Promise<void> {
    return whenFree(() => catchUp(this.#journals))
  }

  /** Ended calls, newest first. */
  async list(filter: AuditFilter = {}): Promise<AuditRow[]> {
    await this.catchUp()
    const { sql, values } = where(filter)
    const rows = this.#database
      .prepare(`select * from ended${sql} order by at desc, place desc limit ?`)
      .all(...values, filter.limit ?? 50) as unknown as EndedRow[]
    return rows.map(auditRow)
  }

  /** Everything the record has about one call, in order. A unique beginning of the id is enough. */
  async show(callId: string): Promise<RecordEntry[]> {
    await this.catchUp()
    const range = [callId, `${callId}\uffff`] as const
    const ended = this.#database
      .prepare("select * from ended where call >= ? and call < ? limit 100")
      .all(...range) as unknown as EndedRow[]
    const steps = this.#database
      .prepare("select place, call from steps where call >= ? and call < ? limit 1000")
      .all(...range) as {
      place: number
      call: string
    }[]
    const calls = new Set([...ended, ...steps].map((row) => row.call))
    if (calls.size !== 1) return []
    const places = [...ended.flatMap((row) => [row.start_place, row.place]), ...steps.map((row) => row.place)]
    const found = [...new Set(places.filter((place) => place !== null))]
      .sort((one, other) => one - other)
      .flatMap((place) => lineAt(this.#database, place) ?? [])
    return found.sort((one, other) => one.at - other.at)
  }

  async stats(filter: AuditFilter = {}): Promise<AuditStats> {
    await this.catchUp()
    const { sql, values } = where(filter)
    const rows = this.#database
      .prepare(
        `select tool, agent, ending, count(*) as count, sum(duration_ms) as ms from ended${sql} group by tool, agent, ending`,
      )
      .all(...values) as unknown as Counted[]
    return summed(rows)
  }

  /** A short text to keep elsewhere: with it, `verify` also finds a record that lost its newest part. */
  async head(): Promise<string> {
    await this.catchUp()
    const { database, key } = this.#journals
    const { id, mac } = await whenFree(() => transaction(database, () => writeCheckpoint(database, key)))
    return `${id}.${mac}`
  }

  async verify(head?: string): Promise<Verified> {
    await this.catchUp()
    return verifyRecord(this.#database, this.#journals.key, head)
  }
}

function where(filter: AuditFilter): { sql: string; values: (string | number)[] } {
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

function auditRow(row: EndedRow): AuditRow {
  const code = isCode(row.ending) ? row.ending : undefined
  return {
    callId: row.call,
    at: row.at,
    agentId: row.agent,
    tool: row.tool,
    status: code === undefined ? row.ending : endings[code].status,
    code,
    durationMs: row.duration_ms,
  }
}

function isCode(ending: string): ending is EndingCode {
  return Object.hasOwn(endings, ending)
}

interface Counted {
  tool: string
  agent: string
  ending: string
  count: number
  ms: number
}

function summed(rows: readonly Counted[]): AuditStats {
  const stats: AuditStats = { total: 0, failures: 0, byTool: {}, byAgent: {}, byEnding: {} }
  for (const { tool, agent, ending, count, ms } of rows) {
    const failures = ending === "success" ? 0 : count
    stats.total += count
    stats.failures += failures
    const ofTool = (stats.byTool[tool] ??= { count: 0, failures: 0, averageMs: 0 })
    ofTool.averageMs = (ofTool.averageMs * ofTool.count + ms) / (ofTool.count + count)
    ofTool.count += count
    ofTool.failures += failures
    const ofAgent = (stats.byAgent[agent] ??= { count: 0, failures: 0 })
    ofAgent.count += count
    ofAgent.failures += failures
    stats.byEnding[ending] = (stats.byEnding[ending] ?? 0) + count
  }
  return stats
}
