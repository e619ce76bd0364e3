import type { RecordKey } from "../store/sqlite/record-key.ts"
import type { AuditVerification } from "./audit-reader.ts"
import { headOf, linkOf, recordName, recordPlace } from "../store/sqlite/chains.ts"
import { checkpointsOf, cutsIn, positionsIn, sealCheckpoint, type Positions } from "../store/sqlite/checkpoint.ts"
import type { Database } from "../store/sqlite/database.ts"
import { parseFrames, lineNumber, sealOf } from "../store/sqlite/frames.ts"
import { snapshot } from "../store/sqlite/snapshot.ts"
import type { ChainRow, SegmentRow } from "../store/sqlite/tables.ts"
import { indexTablesChecker, type VerifyProblem } from "./verify-index-tables.ts"

/** The beginning of the check of a chain, and its last signed line. */
interface SignedPositions {
  /** The last dropped line and its seal. */
  cut: Positions[string]
  signed: Positions[string] | undefined
}

/**
 * Checks every chain, from its first line or from the first one that was not dropped, and names the first record that was
 * changed.
 */
export function verifyAuditLog(database: Database, key: RecordKey, head?: string): AuditVerification {
  return snapshot(database, () => verifyChains(database, key, head))
}

function verifyChains(database: Database, key: RecordKey, head: string | undefined): AuditVerification {
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
  const stray = rowBetween(database, recordPlace(chains.length + 1, 0), Number.MAX_SAFE_INTEGER)
  if (stray !== undefined) return { ok: false, record: recordName(stray), problem: "It belongs to no chain." }
  return { ok: true, records, chains: chains.length }
}

function verifyChain(
  database: Database,
  key: RecordKey,
  chain: ChainRow,
  known: SignedPositions,
): { records: number } | VerifyProblem {
  const { ordinal, uuid, last_seq, last_mac } = chain
  if (chain.head !== headOf(key, ordinal, uuid, last_seq, last_mac)) {
    return { record: `chain ${ordinal}`, problem: "Its head was changed." }
  }
  const first = recordPlace(ordinal, known.cut[0] + 1)
  const back = rowBetween(database, recordPlace(ordinal, 0), first - 1)
  if (back !== undefined)
    return { record: recordName(back), problem: "It was dropped, but there is a record in its place again." }
  const range = [first, recordPlace(ordinal + 1, 0) - 1] as const
  const index = indexTablesChecker(database, range)
  try {
    return verifyLines(database, key, chain, known, range, index)
  } finally {
    index.close()
  }
}

function verifyLines(
  database: Database,
  key: RecordKey,
  { ordinal, last_seq, last_mac }: ChainRow,
  { cut, signed }: SignedPositions,
  range: readonly [number, number],
  index: ReturnType<typeof indexTablesChecker>,
): { records: number } | VerifyProblem {
  let [seq, seal] = cut
  const segments = database
    .prepare("select * from segments where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<SegmentRow>
  for (const segment of segments) {
    if (segment.place !== recordPlace(ordinal, seq + 1))
      return { record: recordName(recordPlace(ordinal, seq + 1)), problem: "It is missing." }
    for (const frame of parseFrames(segment.text)) {
      const first = recordPlace(ordinal, seq + 1)
      seal = sealOf(key, seal, frame.lines.map((line) => `${line}\n`).join(""))
      if (frame.seal !== seal)
        return { record: spanOf(first, frame.lines.length), problem: "It was changed, moved or added later." }
      for (const line of frame.lines) {
        seq++
        if (lineNumber(line) !== seq)
          return { record: recordName(recordPlace(ordinal, seq)), problem: "It is missing." }
        const problem = index.check(line, ordinal, seq)
        if (problem !== undefined) return { record: recordName(recordPlace(ordinal, seq)), problem }
      }
      if (signed?.[0] === seq && signed[1] !== seal) {
        return { record: recordName(recordPlace(ordinal, seq)), problem: "It is not the one that was signed." }
      }
    }
    if (segment.last_seq !== seq)
      return { record: recordName(recordPlace(ordinal, seq)), problem: "Its segment was changed." }
  }
  const end = Math.max(last_seq, signed?.[0] ?? 0)
  if (seq < end)
    return { record: recordName(recordPlace(ordinal, seq + 1)), problem: "The end of its chain is missing." }
  if (seq > last_seq || seal !== last_mac)
    return { record: recordName(recordPlace(ordinal, seq)), problem: "It comes after the end of its chain." }
  return index.finish(ordinal) ?? { records: seq - cut[0] }
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
  return count === 1
    ? recordName(first)
    : `${recordName(first)} to ${recordName(first + count - 1).replace("record ", "")}`
}

/** Verifies the checkpoints. Returns the signed positions, or the problem. */
function readCheckpoints(
  database: Database,
  key: RecordKey,
  head: string | undefined,
): { positions: Positions; cuts: Positions } | VerifyProblem {
  const rows = checkpointsOf(database)
  let mac = ""
  for (const [index, row] of rows.entries()) {
    mac = sealCheckpoint(key, mac, row)
    if (row.id !== index + 1 || row.mac !== mac)
      return { record: `checkpoint ${index + 1}`, problem: "It was changed or is missing." }
  }
  if (head !== undefined) {
    const [id, expected] = head.trim().split(".")
    if (!rows.some((row) => row.id === Number(id) && row.mac === expected)) {
      return {
        record: `checkpoint ${id}`,
        problem: "The audit log is older than the checkpoint you gave, or is a different one.",
      }
    }
  }
  return { positions: positionsIn(rows), cuts: cutsIn(rows) }
}
