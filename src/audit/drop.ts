import { counted } from "../lib/counted.ts"
import { StoreUnavailable } from "../core/ending.ts"
import { directChain, recordName, recordPlace } from "../store/sqlite/chains.ts"
import { checkpointsOf, cutsIn, writeCheckpoint, type Positions } from "../store/sqlite/checkpoint.ts"
import { transaction, retryWhileBusy, type Database } from "../store/sqlite/database.ts"
import { parseFrames } from "../store/sqlite/frames.ts"
import type { Journals } from "../store/sqlite/journal-mover.ts"
import { appendDirect } from "../store/sqlite/segments.ts"
import { removeSums } from "../store/sqlite/sums.ts"
import type { ChainRow, SegmentRow } from "../store/sqlite/tables.ts"
import { verifyAuditLog } from "./verify.ts"

/** Limit of records dropped in one transaction, so that other processes do not wait long for the lock. */
const maxPerTransaction = 20_000

export interface DropResult {
  segments: number
  records: number
}

/**
 * Removes the oldest segments of every chain, as long as all their lines are older than `before`. Signs the last
 * dropped line and its seal, so that `verify` can begin there, and writes a note that says what was dropped and who
 * asked for it. Refuses when the audit log was tampered with, because dropping would destroy the evidence.
 */
export async function dropBefore(journals: Journals, before: number, by: string): Promise<DropResult> {
  const { database, key } = journals
  const verified = await retryWhileBusy(() => verifyAuditLog(database, key))
  if (!verified.ok) {
    throw new StoreUnavailable(
      `Nothing was dropped, because the audit log was changed after it was written. ${verified.record}: ${verified.problem} Copy the data folder and find out who changed it.`,
    )
  }
  const drop = { before: Math.min(before, Date.now()), by }
  const done = new Set<number>()
  const all: DropResult = { segments: 0, records: 0 }
  for (;;) {
    const batch = await retryWhileBusy(() => transaction(database, () => dropBatch(journals, drop, done)))
    for (const ordinal of batch.finished) done.add(ordinal)
    if (batch.segments === 0) return all
    all.segments += batch.segments
    all.records += batch.records
  }
}

/** Drops what one transaction may, and returns the chains that have nothing more to drop. */
function dropBatch(
  { database, key }: Journals,
  drop: { before: number; by: string },
  done: ReadonlySet<number>,
): DropResult & { finished: number[] } {
  const cuts = cutsIn(checkpointsOf(database))
  const chains = database.prepare("select * from chains order by ordinal").all() as unknown as ChainRow[]
  const moved: Positions = {}
  const batch = { segments: 0, records: 0, finished: [] as number[] }
  for (const chain of chains) {
    if (done.has(chain.ordinal)) continue
    let last = cuts[chain.ordinal]?.[0] ?? 0
    while (batch.records < maxPerTransaction) {
      const segment = firstAfter(database, chain.ordinal, last)
      if (segment === undefined || !canDrop(database, chain, segment, drop.before)) {
        batch.finished.push(chain.ordinal)
        break
      }
      moved[chain.ordinal] = [segment.last_seq, [...parseFrames(segment.text)].at(-1)!.seal]
      batch.segments++
      batch.records += segment.last_seq - last
      last = segment.last_seq
    }
  }
  if (batch.segments === 0) return batch
  for (const [ordinal, [seq]] of Object.entries(moved)) removeUpTo(database, recordPlace(Number(ordinal), seq))
  appendDirect(database, key, {
    kind: "note",
    callId: "",
    at: Date.now(),
    by: drop.by,
    text: noteText(batch, moved, drop),
  })
  writeCheckpoint(database, key, moved)
  return batch
}

function firstAfter(database: Database, ordinal: number, seq: number): SegmentRow | undefined {
  return database
    .prepare("select * from segments where place between ? and ? order by place limit 1")
    .get(recordPlace(ordinal, seq + 1), recordPlace(ordinal + 1, 0) - 1) as SegmentRow | undefined
}

/** Reports whether all lines of a segment are old enough, and none is still needed to end a call. */
function canDrop(database: Database, chain: ChainRow, { place, last_seq, text }: SegmentRow, before: number): boolean {
  for (const { lines } of parseFrames(text)) {
    if (!lines.every((line) => (JSON.parse(line) as { at: number }).at < before)) return false
  }
  const range = [place, recordPlace(chain.ordinal, last_seq)] as const
  const has = (sql: string) => database.prepare(`select 1 from steps ${sql} limit 1`).get(...range) !== undefined
  if (has("join calls on calls.id = call where place between ? and ? and state <> 'ended'")) return false
  if (chain.closed === 1 || chain.uuid === directChain) return true
  // If the process dies, recovery needs the starts of its unended calls.
  return !has(
    "where place between ? and ? and kind = 'start' and not exists (select 1 from ended where ended.call = steps.call)",
  )
}

/** Removes everything of a chain up to this place. */
function removeUpTo(database: Database, place: number): void {
  const first = place - (place % 2 ** 32)
  removeSums(database, [first, place])
  for (const table of ["segments", "ended", "steps"])
    database.prepare(`delete from ${table} where place between ? and ?`).run(first, place)
}

const maxNamed = 20

function noteText({ segments, records }: DropResult, moved: Positions, { before }: { before: number }): string {
  const ends = Object.entries(moved).map(([ordinal, [seq]]) => recordName(recordPlace(Number(ordinal), seq)))
  const more = ends.length > maxNamed ? ` and ${ends.length - maxNamed} more` : ""
  const until = ends.slice(0, maxNamed).join(", ") + more
  return `Dropped ${counted(records, "record")} in ${counted(segments, "segment")}, all older than ${new Date(before).toISOString()}: each chain up to ${until}.`
}
