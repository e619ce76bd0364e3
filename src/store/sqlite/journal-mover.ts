import { join } from "node:path"
import { findOrBeginChain, findChain, moveHead } from "./chains.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, type Database } from "./database.ts"
import { parseFrames } from "./frames.ts"
import { listJournalFiles, readFrames, removeFile } from "./journal-files.ts"
import type { RecordKey } from "./record-key.ts"
import { addSegment } from "./segments.ts"

/** The folders of the journals, the database they are moved into, and the key of their seals. */
export interface Journals {
  database: Database
  key: RecordKey
  dir: string
}

/**
 * Moves one batch of a journal's frames into the table and returns the number of the last line moved. Any process may do
 * it at any time, because the position is saved in the same transaction.
 */
export function moveBatch({ database, key, dir }: Journals, uuid: string): { seq: number; more: boolean } {
  return transaction(database, () => {
    const known = findChain(database, uuid)
    const files = listJournalFiles(dir, uuid)
    const file = known?.file ?? files[0]
    if (file === undefined || known?.closed === 1) return { seq: known?.last_seq ?? 0, more: false }
    const offset = known?.byte_offset ?? 0
    const { text, bytes, atEnd } = readFrames(join(dir, file), offset)
    if (bytes > 0) {
      const chain = known ?? findOrBeginChain(database, key, uuid, ownerIn(text))
      const { seq, seal } = addSegment(database, chain.ordinal, text)
      moveHead(database, key, chain, { seq, seal, file, offset: offset + bytes })
      return { seq, more: !atEnd || file !== files.at(-1) }
    }
    const next = files[files.indexOf(file) + 1]
    if (next === undefined || known === undefined) return { seq: known?.last_seq ?? 0, more: false }
    moveHead(database, key, known, { seq: known.last_seq, seal: known.last_mac, file: next, offset: 0 })
    return { seq: known.last_seq, more: true }
  })
}

/** Removes the files of a journal whose lines are all in the table. */
export function removeMoved({ database, dir }: Journals, uuid: string): void {
  const chain = findChain(database, uuid)
  if (chain === undefined) return
  for (const file of listJournalFiles(dir, uuid)) {
    if (chain.closed === 1 || (chain.file !== null && file < chain.file)) removeFile(join(dir, file))
  }
}

/** Closes a chain: nothing can be added to it any more. A checkpoint signs where it ended. */
export function closeChain({ database, key }: Journals, uuid: string): void {
  transaction(database, () => {
    database.prepare("update chains set closed = 1 where uuid = ?").run(uuid)
    writeCheckpoint(database, key)
  })
}

function ownerIn(text: string): string {
  const first = parseFrames(text).next().value
  return first === undefined ? "" : ((JSON.parse(first.lines[0]!) as { by?: string }).by ?? "")
}
