import type { Database } from "./database.ts"
import { hmac, type RecordKey } from "./record-key.ts"
import type { ChainRow } from "./tables.ts"

/** The chain of all entries that the command line and recovery write without a journal. */
export const directChain = "direct"

const span = 2 ** 32

/** A record's key in the tables: the number of its chain and of its line. */
export const recordPlace = (ordinal: number, seq: number) => ordinal * span + seq
export const ordinalOf = (place: number) => Math.floor(place / span)
export const seqOf = (place: number) => place % span
/** The name of a record in messages to people. */
export const recordName = (place: number) => `record ${ordinalOf(place)}/${seqOf(place)}`
/** The place of a record by its name, with or without the word; undefined for any other text. */
export function placeOfName(name: string): number | undefined {
  const [, ordinal, seq] = /^(?:record )?(\d{1,9})\/(\d{1,9}):?$/.exec(name) ?? []
  return ordinal === undefined ? undefined : recordPlace(Number(ordinal), Number(seq))
}

export function findChain(database: Database, uuid: string): ChainRow | undefined {
  return database.prepare("select * from chains where uuid = ?").get(uuid) as ChainRow | undefined
}

/** Finds or begins a chain. Each chain is linked to the one before, so that a missing one is noticed. */
export function findOrBeginChain(database: Database, key: RecordKey, uuid: string, owner: string): ChainRow {
  const found = findChain(database, uuid)
  if (found !== undefined) return found
  const last = database.prepare("select ordinal, link from chains order by ordinal desc limit 1").get() as
    | Pick<ChainRow, "ordinal" | "link">
    | undefined
  const ordinal = (last?.ordinal ?? 0) + 1
  const link = linkOf(key, last?.link ?? "", uuid)
  const head = headOf(key, ordinal, uuid, 0, "")
  database
    .prepare("insert into chains (ordinal, uuid, owner, link, last_seq, last_mac, head) values (?, ?, ?, ?, 0, '', ?)")
    .run(ordinal, uuid, owner, link, head)
  return { ordinal, uuid, owner, link, last_seq: 0, last_mac: "", head, file: null, byte_offset: 0, closed: 0 }
}

export const linkOf = (key: RecordKey, previous: string, uuid: string) => hmac(key, `chain ${previous} ${uuid}`)

export const headOf = (key: RecordKey, ordinal: number, uuid: string, seq: number, mac: string) =>
  hmac(key, `head ${ordinal} ${uuid} ${seq} ${mac}`)

/** Saves the signed end of a chain and the position in its journal. */
export function moveHead(
  database: Database,
  key: RecordKey,
  { ordinal, uuid }: ChainRow,
  to: { seq: number; seal: string; file: string | null; offset: number },
): void {
  database
    .prepare("update chains set last_seq = ?, last_mac = ?, head = ?, file = ?, byte_offset = ? where ordinal = ?")
    .run(to.seq, to.seal, headOf(key, ordinal, uuid, to.seq, to.seal), to.file, to.offset, ordinal)
}
