import type { Database } from "./database.ts"
import { hmac, type RecordKey } from "./key.ts"
import type { ChainRow } from "./tables.ts"

/** The chain of everything that is written into the table directly, by the command line and by recovery. */
export const directChain = "direct"

const span = 2 ** 32

/** A record's key in the tables: the chain's number and the line's in it. */
export const placeOf = (ordinal: number, seq: number) => ordinal * span + seq
export const ordinalOf = (place: number) => Math.floor(place / span)
export const seqOf = (place: number) => place % span
/** How a record is named to a person. */
export const nameOf = (place: number) => `record ${ordinalOf(place)}/${seqOf(place)}`

export function findChain(database: Database, uuid: string): ChainRow | undefined {
  return database.prepare("select * from chains where uuid = ?").get(uuid) as ChainRow | undefined
}

/** Finds a chain, or begins it. Chains are linked to each other, so that none can vanish from the middle. */
export function chainOf(database: Database, key: RecordKey, uuid: string, owner: string): ChainRow {
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

/** Says how far a chain has come, signed, and where its journal goes on. */
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
