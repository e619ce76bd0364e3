import type { Database } from "./database.ts"
import { hmac, type RecordKey } from "./record-key.ts"
import type { CheckpointRow } from "./tables.ts"

/** A line and its seal for each chain: the last line written, or the last line dropped. */
export type Positions = Record<string, [seq: number, mac: string]>

/**
 * Signs the last line of every chain that grew since the last checkpoint, and the last dropped line of those in `cuts`.
 * Call it inside a transaction.
 */
export function writeCheckpoint(database: Database, key: RecordKey, cuts: Positions = {}): { id: number; mac: string } {
  const rows = checkpointsOf(database)
  const known = positionsIn(rows)
  const chains = database.prepare("select ordinal, last_seq, last_mac from chains").all() as unknown as {
    ordinal: number
    last_seq: number
    last_mac: string
  }[]
  const positions: Positions = {}
  for (const { ordinal, last_seq, last_mac } of chains) {
    if (known[ordinal]?.[0] !== last_seq) positions[ordinal] = [last_seq, last_mac]
  }
  const last = rows.at(-1)
  const isCut = Object.keys(cuts).length > 0
  if (last !== undefined && !isCut && Object.keys(positions).length === 0) return { id: last.id, mac: last.mac }
  const row = {
    id: (last?.id ?? 0) + 1,
    at: Date.now(),
    positions: JSON.stringify(positions),
    cuts: isCut ? JSON.stringify(cuts) : "",
  }
  const mac = sealCheckpoint(key, last?.mac ?? "", row)
  database
    .prepare("insert into checkpoints (id, at, positions, cuts, mac) values (?, ?, ?, ?, ?)")
    .run(row.id, row.at, row.positions, row.cuts, mac)
  return { id: row.id, mac }
}

export function checkpointsOf(database: Database): CheckpointRow[] {
  return database.prepare("select * from checkpoints order by id").all() as unknown as CheckpointRow[]
}

/** The two kinds begin with different words, so that no text can be moved between the columns under the same seal. */
export function sealCheckpoint(key: RecordKey, previous: string, row: Omit<CheckpointRow, "mac">): string {
  const { id, at, positions, cuts } = row
  if (cuts === "") return hmac(key, `checkpoint ${previous} ${id} ${at} ${positions}`)
  return hmac(key, `cut ${previous} ${id} ${at} ${positions} ${cuts}`)
}

/** The newest known position of every chain. */
export function positionsIn(rows: readonly CheckpointRow[]): Positions {
  const known: Positions = {}
  for (const row of rows) Object.assign(known, JSON.parse(row.positions))
  return known
}

/** The last dropped line of every chain that has one. */
export function cutsIn(rows: readonly CheckpointRow[]): Positions {
  const known: Positions = {}
  for (const row of rows) if (row.cuts !== "") Object.assign(known, JSON.parse(row.cuts))
  return known
}
