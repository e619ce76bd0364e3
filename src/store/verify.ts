import type { RecordKey } from "./key.ts"
import type { Verified } from "../model/app.ts"
import type { RecordEntry } from "../model/record.ts"
import { headOf, linkOf, nameOf, placeOf } from "./chains.ts"
import { accumulated, sealCheckpoint, type Positions } from "./checkpoint.ts"
import type { Database } from "./database.ts"
import { framesOf, numberOf, sealOf } from "./frames.ts"
import { endedRow, isStart, storable, type EndLine } from "./segments.ts"
import type { ChainRow, EndedRow, SegmentRow, Tables } from "./tables.ts"

type Problem = { record: string; problem: string }

/** Goes through every chain from its first line and names the first record that is not as it was written. */
export function verifyRecord(database: Database, key: RecordKey, head?: string): Verified {
  const signed = readCheckpoints(database, key, head)
  if ("problem" in signed) return { ok: false, ...signed }
  const chains = database.prepare("select * from chains order by ordinal").all() as unknown as ChainRow[]
  let records = 0
  let link = ""
  for (const [index, chain] of chains.entries()) {
    link = linkOf(key, link, chain.uuid)
    if (chain.ordinal !== index + 1 || chain.link !== link) {
      return { ok: false, record: `chain ${index + 1}`, problem: "A chain is missing, or was added or moved." }
    }
    const found = verifyChain(database, key, chain, signed.positions[chain.ordinal])
    if ("problem" in found) return { ok: false, ...found }
    records += found.records
  }
  const gone = Object.keys(signed.positions).find((ordinal) => Number(ordinal) > chains.length)
  if (gone !== undefined) return { ok: false, record: `chain ${gone}`, problem: "A whole chain is missing." }
  const stray = strayRow(database, placeOf(chains.length + 1, 0))
  if (stray !== undefined) return { ok: false, record: nameOf(stray), problem: "It belongs to no chain." }
  return { ok: true, records, chains: chains.length }
}

function verifyChain(
  database: Database,
  key: RecordKey,
  chain: ChainRow,
  signed: Positions[string] | undefined,
): { records: number } | Problem {
  const { ordinal, uuid, last_seq, last_mac } = chain
  if (chain.head !== headOf(key, ordinal, uuid, last_seq, last_mac)) {
    return { record: `chain ${ordinal}`, problem: "Its head was changed." }
  }
  const range = [placeOf(ordinal, 0), placeOf(ordinal + 1, 0) - 1] as const
  const found = finders(database, range)
  try {
    return verifyLines(database, key, chain, signed, range, found)
  } finally {
    // A cursor left open keeps this connection in the past, and from the past nothing can be written.
    found.close()
  }
}

function verifyLines(
  database: Database,
  key: RecordKey,
  { ordinal, last_seq, last_mac }: ChainRow,
  signed: Positions[string] | undefined,
  range: readonly [number, number],
  found: ReturnType<typeof finders>,
): { records: number } | Problem {
  let seq = 0
  let seal = ""
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
  return found.rest(ordinal) ?? { records: seq }
}

const notFound = "What finds it was changed or is missing."

/** Compares the tables that find things with what the lines say, in one pass beside them. */
function finders(database: Database, range: readonly [number, number]) {
  const ended = database
    .prepare("select * from ended where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<EndedRow>
  const steps = database
    .prepare("select * from steps where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<Tables["steps"]>
  const open = new Set<number>()
  let nextEnd = ended.next()
  let nextStep = steps.next()
  return {
    check(line: string, ordinal: number, seq: number): string | undefined {
      const place = placeOf(ordinal, seq)
      if (isStart(line)) {
        if (nextStep.value?.place !== place) return void open.add(seq)
        const { callId } = JSON.parse(line) as RecordEntry
        if (!sameRow(nextStep.value, { place, call: storable(callId), kind: "start" })) return notFound
        nextStep = steps.next()
        return undefined
      }
      const entry = JSON.parse(line) as RecordEntry & { n: number }
      if (entry.kind === "end") {
        if (!sameRow(nextEnd.value, endedRow(ordinal, entry as EndLine))) return notFound
        open.delete((entry as EndLine).s ?? 0)
        nextEnd = ended.next()
      } else if (entry.callId !== "") {
        if (!sameRow(nextStep.value, { place, call: storable(entry.callId), kind: entry.kind })) return notFound
        nextStep = steps.next()
      }
      return undefined
    },
    /** What is left over: rows without lines, or a start that nothing finds. */
    rest(ordinal: number): Problem | undefined {
      const [lost] = open
      if (lost !== undefined) return { record: nameOf(placeOf(ordinal, lost)), problem: notFound }
      const extra = (nextEnd.value ?? nextStep.value) as { place: number } | undefined
      return extra && { record: nameOf(extra.place), problem: "It was put in." }
    },
    close(): void {
      ended.return?.()
      steps.return?.()
    },
  }
}

function sameRow(found: object | undefined, expected: object): boolean {
  if (found === undefined) return false
  const has = found as Record<string, unknown>
  return Object.entries(expected).every(([column, value]) => has[column] === value)
}

function strayRow(database: Database, from: number): number | undefined {
  for (const table of ["segments", "ended", "steps"]) {
    const row = database.prepare(`select place from ${table} where place >= ? limit 1`).get(from) as
      | { place: number }
      | undefined
    if (row !== undefined) return row.place
  }
  return undefined
}

function spanOf(first: number, count: number): string {
  return count === 1 ? nameOf(first) : `${nameOf(first)} to ${nameOf(first + count - 1).replace("record ", "")}`
}

/** The signed positions, or what is wrong with them. */
function readCheckpoints(
  database: Database,
  key: RecordKey,
  head: string | undefined,
): { positions: Positions } | Problem {
  const rows = database.prepare("select * from checkpoints order by id").all() as unknown as Tables["checkpoints"][]
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
  return { positions: accumulated(rows) }
}
