import fc from "fast-check"
import { expect, test, vi } from "vitest"
import { StoreUnavailable } from "../core/ending.ts"
import type { AuditEntry } from "../core/audit-entry.ts"
import { Journal } from "../store/sqlite/journal.ts"
import { moveBatch } from "../store/sqlite/journal-mover.ts"
import { newOwnerName } from "../store/sqlite/owner.ts"
import {
  callEntries,
  withSecondConnection,
  hourlyCalls,
  writeEntries,
  openTestStore,
  tamper,
} from "../store/testing/test-store.ts"

const hour = 3_600_000
const day = Date.UTC(2026, 0, 1)
const place = (line: number) => 2 ** 32 + line

/** An old journal. Its process is alive, or dead when it has no name. Each batch becomes a segment. */
async function journalBeside(store: Awaited<ReturnType<typeof openTestStore>>, owner: string) {
  const { database, key, journalDir: dir } = store
  const journal = new Journal(dir, key, owner, () => {})
  const clock = vi.spyOn(Date, "now").mockReturnValue(day - hour)
  await journal.write({ kind: "note", callId: "", at: day - hour, text: "The line after the beginning." }, "crash")
  clock.mockRestore()
  return {
    close: () => journal.close(),
    async segment(entries: readonly AuditEntry[]): Promise<void> {
      await Promise.all(entries.map((entry) => journal.write(entry, "crash")))
      moveBatch({ database, key, dir }, journal.uuid)
    },
  }
}

const callIds = async ({ audit }: Awaited<ReturnType<typeof openTestStore>>) =>
  (await audit.list({ limit: 1000 })).map((row) => row.callId).sort()

test("older segments are dropped, the rest still verifies, and a note says who dropped what", async () => {
  const store = await openTestStore()
  const journal = await journalBeside(store, "")
  for (const letter of ["a", "b", "c"])
    await journal.segment(hourlyCalls(day + "abc".indexOf(letter) * 24 * hour, 2, letter))
  journal.close()
  const head = await store.audit.head()
  expect(await store.audit.drop(day + 47 * hour, "ann")).toEqual({ segments: 2, records: 10 })
  expect(await callIds(store)).toEqual(["c0", "c1"])
  expect(await store.audit.show("a0")).toEqual([])
  expect(await store.audit.show("c0")).toHaveLength(2)
  expect(await store.audit.verify(head)).toEqual({ ok: true, records: 4 + 1, chains: 2 })
  const note = store.database.prepare("select text from segments order by place desc limit 1").get() as { text: string }
  expect(JSON.parse(note.text.split("\n")[0]!)).toMatchObject({
    kind: "note",
    by: "ann",
    text: "Dropped 10 records in 2 segments, all older than 2026-01-02T23:00:00.000Z: each chain up to record 1/10.",
  })
})

test("a segment with one newer line stays, and so does everything after it in its chain", async () => {
  const store = await openTestStore()
  const journal = await journalBeside(store, "")
  await journal.segment(hourlyCalls(day, 2, "a"))
  await journal.segment([...hourlyCalls(day, 2, "b"), ...hourlyCalls(day + 24 * hour, 1, "c")])
  await journal.segment(hourlyCalls(day, 2, "d"))
  journal.close()
  expect(await store.audit.drop(day + 24 * hour, "ann")).toMatchObject({ segments: 1 })
  expect(await callIds(store)).toEqual(["b0", "b1", "c0", "d0", "d1"])
})

test("a drop without old segments leaves no note, and a later drop continues where the last one stopped", async () => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(day, 3, "a"))
  expect(await store.audit.drop(day, "ann")).toEqual({ segments: 0, records: 0 })
  expect(await store.audit.drop(Number.NaN, "ann")).toEqual({ segments: 0, records: 0 })
  expect(await store.audit.verify()).toMatchObject({ records: 6 })
  expect(await store.audit.drop(day + hour, "ann")).toEqual({ segments: 2, records: 2 })
  expect(await store.audit.drop(day + 2 * hour, "ann")).toEqual({ segments: 2, records: 2 })
  await writeEntries(store, hourlyCalls(day + 5 * hour, 1, "b"))
  expect(await callIds(store)).toEqual(["a2", "b0"])
  expect(await store.audit.verify()).toEqual({ ok: true, records: 2 + 2 + 2, chains: 1 })
})

test("a drop with a future date removes everything except its own note, and the chain continues", async () => {
  const store = await openTestStore()
  const journal = await journalBeside(store, "")
  await journal.segment(hourlyCalls(day, 2, "a"))
  journal.close()
  await writeEntries(store, hourlyCalls(day, 2, "b"))
  expect(await store.audit.drop(Infinity, "ann")).toMatchObject({ records: 6 + 4 })
  expect(await store.audit.verify()).toEqual({ ok: true, records: 1, chains: 2 })
  await writeEntries(store, hourlyCalls(day, 1, "c"))
  expect(await store.audit.verify()).toEqual({ ok: true, records: 3, chains: 2 })
})

test("a journal that is still being written continues after a drop", async () => {
  const store = await openTestStore()
  const journal = await journalBeside(store, newOwnerName())
  await journal.segment(hourlyCalls(day, 2, "a"))
  await journal.segment(hourlyCalls(day + 24 * hour, 2, "b"))
  expect(await store.audit.drop(day + 24 * hour, "ann")).toMatchObject({ segments: 1 })
  await journal.segment(hourlyCalls(day, 1, "c"))
  expect(await callIds(store)).toEqual(["b0", "b1", "c0"])
  expect(await store.audit.verify()).toMatchObject({ ok: true })
  journal.close()
})

test("the start of a call that still runs in a live process stays, so that recovery can end it", async () => {
  const store = await openTestStore()
  const journal = await journalBeside(store, newOwnerName())
  const [start, end] = callEntries({ callId: "long", at: day })
  await journal.segment([start])
  expect(await store.audit.drop(Infinity, "ann")).toMatchObject({ segments: 0 })
  await journal.segment([end])
  expect(await store.audit.drop(Infinity, "ann")).toMatchObject({ segments: 2 })
  journal.close()
})

test("the entries of a call that waits for a person stay", async () => {
  const store = await openTestStore()
  await writeEntries(store, [{ kind: "asked", callId: "waits", at: day }, ...hourlyCalls(day, 1, "a")])
  const calls = (state: string) =>
    `insert or replace into calls (id, state, owner, epoch, agent_id, session_id, tool, definition_hash, input_digest, request, asks, created_at, updated_at, change)
     values ('waits', '${state}', '', 1, 'ann', 's', 'probe', '', '', '{}', '[]', 0, 0, 1)`
  await tamper(store.dir, calls("waiting"))
  expect(await store.audit.drop(day + hour, "ann")).toMatchObject({ segments: 0 })
  await tamper(store.dir, calls("ended"))
  expect(await store.audit.drop(day + hour, "ann")).toMatchObject({ segments: 3 })
})

test("nothing is dropped from an audit log that was tampered with", async () => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(day, 3, "a"))
  await tamper(store.dir, `update segments set text = replace(text, 'developer', 'root') where place = ${place(2)}`)
  const dropping = store.audit.drop(day + hour, "ann")
  await expect(dropping).rejects.toThrow(StoreUnavailable)
  await expect(dropping).rejects.toThrow(/^Nothing was dropped.*record 1\/2: It was changed/)
  expect(store.database.prepare("select count(*) as n from segments").get()).toEqual({ n: 6 })
})

const afterwards: [string, string, string][] = [
  ["a changed line after the cut", `update segments set text = replace(text, 'developer', 'root') where place = ${place(5)}`, "record 1/5"],
  ["the first line after the cut removed", `delete from segments where place = ${place(3)}; delete from ended where place = ${place(3)}; delete from steps where place = ${place(3)}`, "record 1/3"],
  ["a cut moved on", `update checkpoints set cuts = replace(cuts, '[2,', '[3,')`, "checkpoint 1"],
  ["a cut with another seal", `update checkpoints set cuts = replace(cuts, substr(cuts, 9, 4), 'AAAA')`, "checkpoint 1"],
  ["a cut removed", "update checkpoints set cuts = ''", "checkpoint 1"],
  ["the checkpoint with the cut removed", "delete from checkpoints", "record 1/1"],
  ["a dropped segment put back", `insert into segments select ${place(2)}, 2, text from segments where place = ${place(3)}`, "record 1/2"],
  ["a dropped index row put back", `insert into ended select ${place(2)}, call, start_place, at, agent, tool, ending, duration_ms, role, task from ended limit 1`, "record 1/2"],
  ["a dropped step put back", `insert into steps values (${place(1)}, 'x', 'start')`, "record 1/1"],
  ["the note of the drop removed", `delete from segments where place = (select max(place) from segments)`, "record 1/7"],
] // prettier-ignore

test.each(afterwards)("after a drop: %s is found and named", async (_what, sql, record) => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(day, 3, "a"))
  expect(await store.audit.drop(day + hour, "ann")).toMatchObject({ records: 2 })
  expect(await store.audit.verify()).toMatchObject({ ok: true })
  await tamper(store.dir, sql)
  expect(await store.audit.verify()).toMatchObject({ ok: false, record })
})

test("a cut signed in a copy of the store is not accepted in the original", async () => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(day, 3, "a"))
  const original = `${store.dir}/original.db`
  store.database.exec(`vacuum into '${original}'`)
  await store.audit.drop(day + hour, "ann")
  // The original again, without the entries that the cut covers, but with the signed cut.
  await withSecondConnection(store.dir, (database) => {
    database.exec(`attach '${original}' as original`)
    database.exec("delete from chains; insert into chains select * from original.chains")
    for (const table of ["segments", "ended", "steps"])
      database.exec(
        `delete from ${table}; insert into ${table} select * from original.${table} where place > ${place(2)}`,
      )
  })
  expect(await store.audit.verify()).toMatchObject({ ok: false, record: "record 1/7" })
})

test("law: a drop removes only older records, no remaining call loses its end, and the rest verifies", async () => {
  const step = fc.record({ back: fc.nat(10), calls: fc.integer({ min: 1, max: 4 }), direct: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: -1, max: 14 }), { minLength: 1, maxLength: 3 }),
      async (steps, cuts) => {
        const store = await openTestStore()
        const journal = await journalBeside(store, "")
        const ends = new Map<string, number>()
        for (const [index, { back, calls, direct }] of steps.entries()) {
          const entries = hourlyCalls(day + back * hour, calls, `x${index}-`)
          for (const entry of entries) if (entry.kind === "end") ends.set(entry.callId, entry.at)
          if (direct) await writeEntries(store, entries)
          else await journal.segment(entries)
        }
        journal.close()
        const before = Math.max(...cuts.map((cut) => day + cut * hour))
        for (const cut of cuts) await store.audit.drop(day + cut * hour, "ann")
        expect(await store.audit.verify()).toMatchObject({ ok: true })
        const left = new Set(await callIds(store))
        for (const [callId, at] of ends) if (!left.has(callId)) expect(at).toBeLessThan(before)
        for (const callId of left)
          expect((await store.audit.show(callId)).at(-1)).toMatchObject({ kind: "end", callId })
      },
    ),
    { numRuns: 100 },
  )
})
