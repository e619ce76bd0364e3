import type { RecordKey } from "./key.ts"
import type { Verified } from "../model/app.ts"
import { headOf, linkOf, nameOf, placeOf } from "./chains.ts"
import { checkpointsOf, cutsIn, positionsIn, sealCheckpoint, type Positions } from "./checkpoint.ts"
import type { Database } from "./database.ts"
import { framesOf, numberOf, sealOf } from "./frames.ts"
import { snapshot } from "./snapshot.ts"
import type { ChainRow, SegmentRow } from "./tables.ts"
import { finders, type Problem } from "./verify-finders.ts"

/** Where the check of a chain begins and what was signed of it. */
interface Known {
  /** The last line that was dropped, and its seal. */
  cut: Positions[string]
  signed: Positions[string] | undefined
}

/**
 * Goes through every chain, from its first line or from where it was dropped, and names the first record that is not as
 * it was written.
 */
export function verifyRecord(database: Database, key: RecordKey, head?: string): Verified {
  return snapshot(database, () => verifyChains(database, key, head))
}

function verifyChains(database: Database, key: RecordKey, head: string | undefined): Verified {
  const known = readCheckpoints(database, key, head)
  if ("problem" in known) return { ok: false, ...known }
  const { positions, cuts } = known
  const chains = database.prepare("select * from chains order by ordinal").all() as unknown as ChainRow[]
  let records = 0
  let link = ""
  for (const [index, chain] of chains.entries()) {
    link = linkOf(key, link, chain.uuid)
    if (chain.ordinal !== index + 1 || chain.link !== link) {
      return { ok: false, record: `chain ${index + 1}`, problem: "A chain is missing, or was added or moved." }
    }
    const { ordinal } = chain
    const found = verifyChain(database, key, chain, { cut: cuts[ordinal] ?? [0, ""], signed: positions[ordinal] })
    if ("problem" in found) return { ok: false, ...found }
    records += found.records
  }
  const gone = Object.keys(positions).find((ordinal) => Number(ordinal) > chains.length)
  if (gone !== undefined) return { ok: false, record: `chain ${gone}`, problem: "A whole chain is missing." }
  const stray = rowBetween(database, placeOf(chains.length + 1, 0), Number.MAX_SAFE_INTEGER)
  if (stray !== undefined) return { ok: false, record: nameOf(stray), problem: "It belongs to no chain." }
  return { ok: true, records, chains: chains.length }
}

function verifyChain(database: Database, key: RecordKey, chain: ChainRow, known: Known): { records: number } | Problem {
  const { ordinal, uuid, last_seq, last_mac } = chain
  if (chain.head !== headOf(key, ordinal, uuid, last_seq, last_mac)) {
    return { record: `chain ${ordinal}`, problem: "Its head was changed." }
  }
  const first = placeOf(ordinal, known.cut[0] + 1)
  const back = rowBetween(database, placeOf(ordinal, 0), first - 1)
  if (back !== undefined) return { record: nameOf(back), problem: "It was dropped, and something is there again." }
  const range = [first, placeOf(ordinal + 1, 0) - 1] as const
  const found = finders(database, range)
  try {
    return verifyLines(database, key, chain, known, range, found)
  } finally {
    found.close()
  }
}

function verifyLines(
  database: Database,
  key: RecordKey,
  { ordinal, last_seq, last_mac }: ChainRow,
  { cut, signed }: Known,
  range: readonly [number, number],
  found: ReturnType<typeof finders>,
): { records: number } | Problem {
  let [seq, seal] = cut
  const segments = database
    .prepare("select * from segments where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<SegmentRow>
  for (const segment of segments) {
    if (segment.place !== placeOf(ordinal, seq + 1))
      return { record: nameOf(placeOf(ordinal, seq + 1)), problem: "It is missing." }
    for (const frame of framesOf(segment.text)) {
      const first = placeOf(ordinal, seq + 1)
      seal = sealOf(key, seal, frame.lines.map((line) => `${line}\n`).join(""))
      if (frame.seal !== seal)
        return { record: spanOf(first, frame.lines.length), problem: "It was changed, moved or put in." }
      for (const line of frame.lines) {
        seq++
        if (numberOf(line) !== seq) return { record: nameOf(placeOf(ordinal, seq)), problem: "It is missing." }
        const problem = found.check(line, ordinal, seq)
        if (problem !== undefined) return { record: nameOf(placeOf(ordinal, seq)), problem }
      }
      if (signed?.[0] === seq && signed[1] !== seal) {
        return { record: nameOf(placeOf(ordinal, seq)), problem: "It is not the one that was signed." }
      }
    }
    if (segment.last_seq !== seq) return { record: nameOf(placeOf(ordinal, seq)), problem: "Its segment was changed." }
  }
  const end = Math.max(last_seq, signed?.[0] ?? 0)
  if (seq < end) return { record: nameOf(placeOf(ordinal, seq + 1)), problem: "The end of its chain is missing." }
  if (seq > last_seq || seal !== last_mac)
    return { record: nameOf(placeOf(ordinal, seq)), problem: "It is behind the end of its chain." }
  return found.rest(ordinal) ?? { records: seq - cut[0] }
}

function rowBetween(database: Database, first: number, last: number): number | undefined {
  for (const table of ["segments", "ended", "steps"]) {
    const row = database
      .prepare(`select place from ${table} where place between ? and ? order by place limit 1`)
      .get(first, last) as { place: number } | undefined
    if (row !== undefined) return row.place
  }
  return undefined
}

function spanOf(first: number, count: number): string {
  return count === 1 ? nameOf(first) : `${nameOf(first)} to ${nameOf(first + count - 1).replace("record ", "")}`
}

/** What was signed, or what is wrong with it. */
function readCheckpoints(
  database: Database,
  key: RecordKey,
  head: string | undefined,
): { positions: Positions; cuts: Positions } | Problem {
  const rows = checkpointsOf(database)
  let mac = ""
  for (const [index, row] of rows.entries()) {
    mac = sealCheckpoint(key, mac, row)
    if (row.id !== index + 1 || row.mac !== mac)
      return { record: `checkpoint ${index + 1}`, problem: "It was changed or is missing." }
  }
  if (head !== undefined) {
    const [id, kept] = head.trim().split(".")
    if (!rows.some((row) => row.id === Number(id) && row.mac === kept)) {
      return { record: `checkpoint ${id}`, problem: "The record is older than the head you kept, or is another one." }
    }
  }
  return { positions: positionsIn(rows), cuts: cutsIn(rows) }
}
