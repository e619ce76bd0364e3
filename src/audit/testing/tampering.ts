import { expect } from "vitest"
import type { Database } from "../../store/sqlite/database.ts"
import { Journal } from "../../store/sqlite/journal.ts"
import { moveBatch } from "../../store/sqlite/journal-mover.ts"
import { callEntries, hourlyCalls, writeEntries, openTestStore } from "../../store/testing/test-store.ts"

export const tamperingDay = Date.UTC(2026, 0, 1)

/**
 * Chain 1 is from a closed journal: lines 1 to 7 one by one, 8 to 13 in one frame, 14 to 17 one by one, each of these three
 * a segment. Chain 2 was written directly: two calls in lines 1 to 4, a question in 5 and a start without an end in 6.
 * Checkpoint 1 signs the first chain, checkpoint 2 both.
 */
export async function openWrittenStore() {
  const store = await openTestStore()
  const { database, key, journalDir: dir } = store
  const journal = new Journal(dir, key, "", () => {})
  const write = (entry: Parameters<Journal["write"]>[0]) => journal.write(entry, "crash")
  for (const entry of hourlyCalls(tamperingDay, 3, "a")) await write(entry)
  moveBatch({ database, key, dir }, journal.uuid)
  await Promise.all(hourlyCalls(tamperingDay, 3, "b").map(write))
  moveBatch({ database, key, dir }, journal.uuid)
  for (const entry of hourlyCalls(tamperingDay, 2, "c")) await write(entry)
  journal.close()
  await store.audit.catchUp()
  const [start] = callEntries({ callId: "w", at: tamperingDay })
  await writeEntries(store, [
    ...hourlyCalls(tamperingDay, 2, "d"),
    { kind: "asked", callId: "w", at: tamperingDay },
    start,
  ])
  const head = await store.audit.head()
  expect(await store.audit.verify(head)).toEqual({ ok: true, records: 23, chains: 2 })
  return { store, head }
}

export const placeOfLine = (chain: number, line: number) => chain * 2 ** 32 + line
export const segmentText = (database: Database, at: number) =>
  (database.prepare("select text from segments where place = ?").get(at) as { text: string }).text
export const setSegmentText = (database: Database, at: number, text: string) =>
  database.prepare("update segments set text = ? where place = ?").run(text, at)
