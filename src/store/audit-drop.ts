import { StoreUnavailable } from "../model/ending.ts"
import { directChain, nameOf, placeOf } from "./chains.ts"
import { checkpointsOf, cutsIn, writeCheckpoint, type Positions } from "./checkpoint.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { framesOf } from "./frames.ts"
import type { Journals } from "./mover.ts"
import { appendDirect } from "./segments.ts"
import type { ChainRow, SegmentRow } from "./tables.ts"
import { verifyRecord } from "./verify.ts"

/** The most records that go in one transaction, so that nobody waits long for the lock. */
const mostAtOnce = 20_000

export interface Dropped {
  segments: number
  records: number
}

/**
 * Removes the oldest segments of every chain, as long as all their lines are older than `before`. The last line that
 * went and its seal are signed, so that verify goes on from there; a note in the record says what went and by whose
 * word. A record that is not as it was written is kept: dropping would destroy what shows it.
 */
export async function dropBefore(journals: Journals, before: number, by: string): Promise<Dropped> {
  const { database, key } = journals
  const verified = await whenFree(() => verifyRecord(database, key))
  if (!verified.ok) {
    throw new StoreUnavailable(
      `Nothing was dropped, because the record is not as it was written. ${verified.record}: ${verified.problem} Copy the data folder and find out who changed it.`,
    )
  }
  const drop = { before: Math.min(before, Date.now()), by }
  const done = new Set<number>()
  const all: Dropped = { segments: 0, records: 0 }
  for (;;) {
    const batch = await whenFree(() => transaction(database, () => dropBatch(journals, drop, done)))
    for (const ordinal of batch.finished) done.add(ordinal)
    if (batch.segments === 0) return all
    all.segments += batch.segments
    all.records += batch.records
  }
}

/** One transaction's worth, and the chains that have nothing more to drop. */
function dropBatch(
  { database, key }: Journals,
  drop: { before: number; by: string },
  done: ReadonlySet<number>,
): Dropped & { finished: number[] } {
  const cuts = cutsIn(checkpointsOf(database))
  const chains = database.prepare("select * from chains order by ordinal").all() as unknown as ChainRow[]
  const moved: Positions = {}
  const batch = { segments: 0, records: 0, finished: [] as number[] }
  for (const chain of chains) {
    if (done.has(chain.ordinal)) continue
    let last = cuts[chain.ordinal]?.[0] ?? 0
    while (batch.records < mostAtOnce) {
      const segment = firstAfter(database, chain.ordinal, last)
      if (segment === undefined || !mayGo(database, chain, segment, drop.before)) {
        batch.finished.push(chain.ordinal)
        break
      }
      moved[chain.ordinal] = [segment.last_seq, [...framesOf(segment.text)].at(-1)!.seal]
      batch.segments++
      batch.records += segment.last_seq - last
      last = segment.last_seq
    }
  }
  if (batch.segments === 0) return batch
  for (const [ordinal, [seq]] of Object.entries(moved)) removeUpTo(database, placeOf(Number(ordinal), seq))
  appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), by: drop.by, text: said(batch, moved, drop) })
  writeCheckpoint(database, key, moved)
  return batch
}

function firstAfter(database: Database, ordinal: number, seq: number): SegmentRow | undefined {
  return database
    .prepare("select * from segments where place between ? and ? order by place limit 1")
    .get(placeOf(ordinal, seq + 1), placeOf(ordinal + 1, 0) - 1) as SegmentRow | undefined
}

/** Whether all of a segment is old, and nothing in it is still needed to end a call. */
function mayGo(database: Database, chain: ChainRow, { place, last_seq, text }: SegmentRow, before: number): boolean {
  for (const { lines } of framesOf(text)) {
    if (!lines.every((line) => (JSON.parse(line) as { at: number }).at < before)) return false
  }
  const range = [place, placeOf(chain.ordinal, last_seq)] as const
  const has = (sql: string) => database.prepare(`select 1 from steps ${sql} limit 1`).get(...range) !== undefined
  if (has("join calls on calls.id = call where place between ? and ? and state <> 'ended'")) return false
  if (chain.closed === 1 || chain.uuid === directChain) return true
  // Should its process die, what it had started is ended from here.
  return !has(
    "where place between ? and ? and kind = 'start' and not exists (select 1 from ended where ended.call = steps.call)",
  )
}

/** Everything of a chain up to that place. */
function removeUpTo(database: Database, place: number): void {
  const first = place - (place % 2 ** 32)
  for (const table of ["segments", "ended", "steps"])
    database.prepare(`delete from ${table} where place between ? and ?`).run(first, place)
}

const mostNamed = 20

function said({ segments, records }: Dropped, moved: Positions, { before }: { before: number }): string {
  const ends = Object.entries(moved).map(([ordinal, [seq]]) => nameOf(placeOf(Number(ordinal), seq)))
  const more = ends.length > mostNamed ? ` and ${ends.length - mostNamed} more` : ""
  const until = ends.slice(0, mostNamed).join(", ") + more
  return `Dropped ${records} records in ${segments} segments, all older than ${new Date(before).toISOString()}: each chain up to ${until}.`
}
