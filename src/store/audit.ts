import type { RecordKey } from "./key.ts"
import type { AuditReader, AuditStats, ExportedCall, Verified } from "../model/app.ts"
import type { AuditFilter, AuditRow } from "../model/ports.ts"
import type { RecordEntry } from "../model/record.ts"
import { endings, type EndingCode } from "../model/result.ts"
import { dropBefore, type Dropped } from "./audit-drop.ts"
import { exportCalls } from "./audit-export.ts"
import { statsOf } from "./audit-stats.ts"
import { where } from "./audit-where.ts"
import { ordinalOf } from "./chains.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { lineReader } from "./lines.ts"
import type { Journals } from "./mover.ts"
import { catchUp } from "./recovery.ts"
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
    // Left to itself, SQLite sorts the whole table for a tool.
    const index = filter.agentId === undefined ? " indexed by ended_at" : ""
    const rows = this.#database
      .prepare(`select * from ended${index}${sql} order by at desc, place desc limit ?`)
      .all(...values, filter.limit ?? 50) as unknown as EndedRow[]
    return rows.map(auditRow)
  }

  /** Everything the record has about one call, in order. A unique beginning of the id is enough. */
  async show(callId: string): Promise<RecordEntry[]> {
    await this.catchUp()
    const { ended, steps, calls } = this.#begunSo(callId)
    if (calls.size !== 1) return []
    const places = [...ended.flatMap((row) => [row.start_place, row.place]), ...steps.map((row) => row.place)]
    return inOrder(this.#database, new Set(places.filter((place) => place !== null)))
  }

  /** The ids that begin so, where somebody gave less than one of them. */
  async beginningWith(beginning: string): Promise<string[]> {
    await this.catchUp()
    return [...this.#begunSo(beginning).calls].sort().slice(0, 100)
  }

  #begunSo(beginning: string) {
    const range = [beginning, `${beginning}\uffff`] as const
    const ended = this.#database
      .prepare("select * from ended where call >= ? and call < ? limit 100")
      .all(...range) as unknown as EndedRow[]
    const steps = this.#database
      .prepare("select place, call from steps where call >= ? and call < ? limit 1000")
      .all(...range) as { place: number; call: string }[]
    return { ended, steps, calls: new Set([...ended, ...steps].map((row) => row.call)) }
  }

  async stats(filter: AuditFilter = {}): Promise<AuditStats> {
    await this.catchUp()
    return whenFree(() => statsOf(this.#database, filter))
  }

  /** Ended calls with their starts, oldest first, a page at a time. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<ExportedCall> {
    await this.catchUp()
    yield* exportCalls(this.#database, filter)
  }

  /** Drops the oldest segments whole; what is left is verified from where it was cut. */
  async drop(before: number, by: string): Promise<Dropped> {
    await this.catchUp()
    return dropBefore(this.#journals, before, by)
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
    return whenFree(() => verifyRecord(this.#database, this.#journals.key, head))
  }
}

/** Each chain in its own order, whatever its clock did; entries of several chains by their times. */
function inOrder(database: Database, places: ReadonlySet<number>): RecordEntry[] {
  const line = lineReader(database)
  const chains = new Map<number, RecordEntry[]>()
  for (const place of [...places].sort((one, other) => one - other)) {
    const entry = line(place)
    const chain = chains.get(ordinalOf(place)) ?? []
    chains.set(ordinalOf(place), chain)
    if (entry !== undefined) chain.push(entry)
  }
  const story: RecordEntry[] = []
  for (;;) {
    const waiting = [...chains.values()].filter((chain) => chain.length > 0)
    if (waiting.length === 0) return story
    story.push(waiting.reduce((first, chain) => (chain[0]!.at < first[0]!.at ? chain : first)).shift()!)
  }
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
