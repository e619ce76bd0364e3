import type { Database } from "./database.ts"
import { hmac, type RecordKey } from "./key.ts"

/** How far each chain had come: its number to the last line and its seal. */
export type Positions = Record<string, [seq: number, mac: string]>

interface CheckpointRow {
  id: number
  at: number
  positions: string
  mac: string
}

/** Signs how far every chain has come since the last checkpoint. Call it inside a transaction. */
export function writeCheckpoint(database: Database, key: RecordKey): { id: number; mac: string } {
  const rows = database.prepare("select * from checkpoints order by id").all() as unknown as CheckpointRow[]
  const known = accumulated(rows)
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
  if (last !== undefined && Object.keys(positions).length === 0) return { id: last.id, mac: last.mac }
  const row = { id: (last?.id ?? 0) + 1, at: Date.now(), positions: JSON.stringify(positions) }
  const mac = sealCheckpoint(key, last?.mac ?? "", row)
  database
    .prepare("insert into checkpoints (id, at, positions, mac) values (?, ?, ?, ?)")
    .run(row.id, row.at, row.positions, mac)
  return { id: row.id, mac }
}

export function sealCheckpoint(key: RecordKey, previous: string, row: Omit<CheckpointRow, "mac">): string {
  return hmac(key, `checkpoint ${previous} ${row.id} ${row.at} ${row.positions}`)
}

/** The newest known position of every chain. */
export function accumulated(rows: readonly CheckpointRow[]): Positions {
  const known: Positions = {}
  for (const row of rows) Object.assign(known, JSON.parse(row.positions))
  return known
}
