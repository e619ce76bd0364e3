import type { RecordKey } from "../store/sqlite/record-key.ts"
import type {
  AuditHour,
  AuditReader,
  AuditStats,
  AuditVerification,
  AuditWait,
  ExportedCall,
  ToolCount,
} from "./audit-reader.ts"
import type { AuditFilter, AuditRow } from "../store/port.ts"
import type { AuditEntry, StepEntry } from "../core/audit-entry.ts"
import { endings, type EndingCode } from "../core/result.ts"
import { dropBefore, type DropResult } from "./drop.ts"
import { exportEndedCalls } from "./export.ts"
import { hoursOf, rulesSince, statsOf, toolsOf, waitsIn } from "./stats.ts"
import { auditWhere } from "./where.ts"
import { ordinalOf, placeOfName } from "../store/sqlite/chains.ts"
import { writeCheckpoint } from "../store/sqlite/checkpoint.ts"
import { transaction, retryWhileBusy, type Database } from "../store/sqlite/database.ts"
import { entryReader } from "../store/sqlite/entry-reader.ts"
import type { Journals } from "../store/sqlite/journal-mover.ts"
import { catchUp } from "../store/sqlite/recovery.ts"
import type { EndedRow } from "../store/sqlite/tables.ts"
import { verifyAuditLog } from "./verify.ts"

/** Reads the audit log. Every method first moves the entries that are still in journals, also those of dead processes. */
export class Audit implements AuditReader {
  readonly #journals: Journals

  constructor(database: Database, key: RecordKey, journalDir: string) {
    this.#journals = { database, key, dir: journalDir }
  }

  get #database(): Database {
    return this.#journals.database
  }

  /** Moves the entries left in the journals into the tables. */
  catchUp(): Promise<void> {
    return retryWhileBusy(() => catchUp(this.#journals))
  }

  /** Ended calls, newest first. */
  async list(filter: AuditFilter = {}): Promise<AuditRow[]> {
    await this.catchUp()
    const { sql, values } = auditWhere(filter)
    const index = indexHint(filter)
    const rows = this.#database
      .prepare(`select * from ended${index}${sql} order by at desc, place desc limit ?`)
      .all(...values, filter.limit ?? 50) as unknown as EndedRow[]
    return rows.map(auditRow)
  }

  /** All entries of one call, in order, by a unique beginning of its id or by one of its records: `record 1/5`. */
  async show(given: string): Promise<AuditEntry[]> {
    await this.catchUp()
    const place = placeOfName(given)
    const callId = place === undefined ? given : (entryReader(this.#database)(place)?.callId ?? given)
    const { ended, steps, calls } = this.#findBeginning(callId)
    if (calls.size !== 1) return []
    return inOrder(placesOf(ended, steps), entryReader(this.#database))
  }

  /** All entries of each of these calls, in order. Much quicker than `show` for each. */
  async showMany(callIds: readonly string[]): Promise<Map<string, AuditEntry[]>> {
    await this.catchUp()
    const ended = this.#database.prepare("select * from ended where call = ?")
    const steps = this.#database.prepare("select place from steps where call = ?")
    const entryAt = entryReader(this.#database)
    const entries = (callId: string) => {
      const places = placesOf(
        ended.all(callId) as unknown as EndedRow[],
        steps.all(callId) as unknown as { place: number }[],
      )
      return inOrder(places, entryAt)
    }
    return new Map(callIds.map((callId) => [callId, entries(callId)]))
  }

  /** Returns the answers of people, by the id of the call. */
  async answers(): Promise<Map<string, StepEntry[]>> {
    await this.catchUp()
    const rows = this.#database.prepare("select place, call from steps where kind = 'answered' order by place").all()
    const entryAt = entryReader(this.#database)
    const found = new Map<string, StepEntry[]>()
    for (const { place, call } of rows as { place: number; call: string }[]) {
      const entry = entryAt(place)
      if (entry?.kind === "answered" && found.get(call)?.push(entry) === undefined) found.set(call, [entry])
    }
    return found
  }

  /** The ids of calls that begin with this text, at most 100. */
  async beginningWith(beginning: string): Promise<string[]> {
    await this.catchUp()
    return [...this.#findBeginning(beginning).calls].sort().slice(0, 100)
  }

  #findBeginning(beginning: string) {
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
    return retryWhileBusy(() => statsOf(this.#database, filter))
  }

  async count(filter: AuditFilter = {}): Promise<number> {
    await this.catchUp()
    const { sql, values } = auditWhere(filter)
    const row = this.#database.prepare(`select count(*) as count from ended${sql}`).get(...values)
    return (row as unknown as { count: number }).count
  }

  async hours(filter: AuditFilter = {}): Promise<AuditHour[]> {
    await this.catchUp()
    return retryWhileBusy(() => hoursOf(this.#database, filter))
  }

  async tools(filter: AuditFilter, most: number): Promise<ToolCount[]> {
    await this.catchUp()
    return retryWhileBusy(() => toolsOf(this.#database, filter, most))
  }

  async waits(filter: AuditFilter): Promise<AuditWait[]> {
    await this.catchUp()
    return retryWhileBusy(() => waitsIn(this.#database, filter))
  }

  async rules(since: number): Promise<Map<string, number>> {
    await this.catchUp()
    return retryWhileBusy(() => rulesSince(this.#database, since))
  }

  /** Ended calls with their starts, oldest first, a page at a time. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<ExportedCall> {
    await this.catchUp()
    yield* exportEndedCalls(this.#database, filter)
  }

  /** Drops the oldest whole segments. `verify` then begins at the first entry that is left. */
  async drop(before: number, by: string): Promise<DropResult> {
    await this.catchUp()
    return dropBefore(this.#journals, before, by)
  }

  /** A checkpoint hash to store elsewhere. With it `verify` also notices that the newest entries are missing. */
  async head(): Promise<string> {
    await this.catchUp()
    const { database, key } = this.#journals
    const { id, mac } = await retryWhileBusy(() => transaction(database, () => writeCheckpoint(database, key)))
    return `${id}.${mac}`
  }

  async verify(head?: string): Promise<AuditVerification> {
    await this.catchUp()
    return retryWhileBusy(() => verifyAuditLog(this.#database, this.#journals.key, head))
  }
}

/** Without a hint SQLite sorts the whole table for a filter by tool. */
function indexHint({ agentId, taskId }: AuditFilter): string {
  if (taskId !== undefined) return " indexed by ended_task"
  return agentId === undefined ? " indexed by ended_at" : ""
}

function placesOf(ended: readonly EndedRow[], steps: readonly { place: number }[]): Set<number> {
  const places = [...ended.flatMap((row) => [row.start_place, row.place]), ...steps.map((row) => row.place)]
  return new Set(places.filter((place) => place !== null))
}

/** Keeps the order within each chain, whatever its clock did, and merges the chains by time. */
function inOrder(places: ReadonlySet<number>, entryAt: (place: number) => AuditEntry | undefined): AuditEntry[] {
  const chains = new Map<number, AuditEntry[]>()
  for (const place of [...places].sort((a, b) => a - b)) {
    const entry = entryAt(place)
    const chain = chains.get(ordinalOf(place)) ?? []
    chains.set(ordinalOf(place), chain)
    if (entry !== undefined) chain.push(entry)
  }
  const merged: AuditEntry[] = []
  for (;;) {
    const left = [...chains.values()].filter((chain) => chain.length > 0)
    if (left.length === 0) return merged
    merged.push(left.reduce((earliest, chain) => (chain[0]!.at < earliest[0]!.at ? chain : earliest)).shift()!)
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
