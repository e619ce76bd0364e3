import { expect, test } from "vitest"
import { sealCheckpoint } from "./checkpoint.ts"
import type { Database } from "./database.ts"
import { sealOf } from "./frames.ts"
import { recordKeyFromText } from "./record-key.ts"
import { withSecondConnection, hourlyCalls, writeEntries, openTestStore } from "../testing/test-store.ts"
import { verifyAuditLog } from "../../audit/verify.ts"
import {
  openWrittenStore,
  placeOfLine,
  segmentText,
  setSegmentText,
  tamperingDay,
} from "../../audit/testing/tampering.ts"

/** The key of an attacker who does not have the real one. */
const otherKey = recordKeyFromText("cd".repeat(32))

/** Lines of a segment whose frames have one line each, with their seals. */
function edit(at: number, change: (pairs: [string, string][]) => void) {
  return (database: Database) => {
    const lines = segmentText(database, at).trimEnd().split("\n")
    const pairs = lines.flatMap((line, index) =>
      index % 2 === 0 ? [[line, lines[index + 1]!] as [string, string]] : [],
    )
    change(pairs)
    setSegmentText(database, at, `${pairs.flat().join("\n")}\n`)
  }
}

/** Lines of the segment whose lines are one frame. */
function editFrame(change: (lines: string[]) => void) {
  return (database: Database) => {
    const lines = segmentText(database, placeOfLine(1, 8)).trimEnd().split("\n")
    const seal = lines.pop()!
    change(lines)
    setSegmentText(database, placeOfLine(1, 8), `${[...lines, seal].join("\n")}\n`)
  }
}

const sql = (text: string) => (database: Database) => database.exec(text)
const without = (from: number, to: number) =>
  sql(
    ["segments", "ended", "steps"]
      .map((table) => `delete from ${table} where place between ${from} and ${to}`)
      .join(";"),
  )

function swap(list: unknown[], one: number, other: number): void {
  ;[list[one], list[other]] = [list[other], list[one]]
}

const tampering: [string, (database: Database) => unknown, string][] = [
  ["a changed line", edit(placeOfLine(1, 1), (pairs) => (pairs[3]![0] = pairs[3]![0].replace("developer", "root"))), "record 1/4"],
  ["a changed line with a seal of another key", edit(placeOfLine(1, 1), (pairs) => { const line = pairs[3]![0].replace("developer", "root"); pairs[3] = [line, `#${sealOf(otherKey, pairs[2]![1].slice(1), `${line}\n`)}`] }), "record 1/4"],
  ["a changed line in a frame of many", editFrame((lines) => (lines[2] = lines[2]!.replace("developer", "root"))), "record 1/8 to 1/13"],
  ["a removed line", edit(placeOfLine(1, 1), (pairs) => pairs.splice(3, 1)), "record 1/4"],
  ["a removed line in a frame of many", editFrame((lines) => lines.splice(2, 1)), "record 1/8 to 1/12"],
  ["a removed last line of a segment", edit(placeOfLine(1, 1), (pairs) => pairs.pop()), "record 1/6"],
  ["a line repeated", edit(placeOfLine(1, 1), (pairs) => pairs.splice(4, 0, pairs[3]!)), "record 1/5"],
  ["two lines swapped", edit(placeOfLine(1, 1), (pairs) => swap(pairs, 3, 4)), "record 1/4"],
  ["two lines swapped in a frame of many", editFrame((lines) => swap(lines, 1, 4)), "record 1/8 to 1/13"],
  ["two segments swapped", (database) => { const [one, other] = [segmentText(database, placeOfLine(1, 1)), segmentText(database, placeOfLine(1, 14))]; setSegmentText(database, placeOfLine(1, 1), other); setSegmentText(database, placeOfLine(1, 14), one) }, "record 1/1"],
  ["the first segment removed", without(placeOfLine(1, 1), placeOfLine(1, 7)), "record 1/1"],
  ["a middle segment removed", without(placeOfLine(1, 8), placeOfLine(1, 13)), "record 1/8"],
  ["the tail of a journal cut", without(placeOfLine(1, 14), placeOfLine(1, 17)), "record 1/14"],
  ["the tail of a direct chain cut", without(placeOfLine(2, 6), placeOfLine(2, 6)), "record 2/6"],
  ["a segment added after the end", sql(`insert into segments values (${placeOfLine(2, 7)}, 7, (select text from segments where place = ${placeOfLine(2, 6)}))`), "record 2/7"],
  ["a segment of no chain", sql(`insert into segments values (${placeOfLine(9, 1)}, 1, '')`), "record 9/1"],
  ["a segment with a wrong length", sql(`update segments set last_seq = 12 where place = ${placeOfLine(1, 8)}`), "record 1/13"],
  ["an empty segment", sql(`update segments set text = '' where place = ${placeOfLine(1, 8)}`), "record 1/7"],
  ["a changed role in an index row", sql(`update ended set role = 'root' where place = ${placeOfLine(1, 5)}`), "record 1/5"],
  ["a role taken out of an index row", sql(`update ended set role = '' where place = ${placeOfLine(1, 5)}`), "record 1/5"],
  ["a changed ending in an index row", sql(`update ended set ending = 'timeout' where place = ${placeOfLine(1, 5)}`), "record 1/5"],
  ["a changed time in an index row", sql(`update ended set at = at + 1 where place = ${placeOfLine(1, 5)}`), "record 1/5"],
  ["a changed agent in an index row", sql(`update ended set agent = 'bob' where place = ${placeOfLine(2, 2)}`), "record 2/2"],
  ["an index row removed", sql(`delete from ended where place = ${placeOfLine(1, 5)}`), "record 1/5"],
  ["an index row added", sql(`insert into ended select ${placeOfLine(1, 99)}, call, start_place, at, agent, tool, ending, duration_ms, role, task from ended limit 1`), "record 1/99"],
  ["an index row of no chain", sql(`insert into ended select ${placeOfLine(9, 1)}, call, start_place, at, agent, tool, ending, duration_ms, role, task from ended limit 1`), "record 9/1"],
  ["a step removed", sql(`delete from steps where place = ${placeOfLine(2, 5)}`), "record 2/5"],
  ["a step changed", sql(`update steps set kind = 'answered' where place = ${placeOfLine(2, 5)}`), "record 2/5"],
  ["the index row of a start without an end removed", sql(`delete from steps where place = ${placeOfLine(2, 6)}`), "record 2/6"],
  ["the index row of a start without an end changed", sql(`update steps set call = 'x' where place = ${placeOfLine(2, 6)}`), "record 2/6"],
  ["a head set back", sql("update chains set last_seq = last_seq - 1 where ordinal = 1"), "chain 1"],
  ["a chain removed", sql(`delete from chains where ordinal = 1`), "chain 1"],
  ["the last chain removed with all it had", (database) => { without(placeOfLine(2, 0), placeOfLine(3, 0))(database); database.exec("delete from chains where ordinal = 2") }, "chain 2"],
  ["a chain added", sql("insert into chains select 3, 'x', owner, link, last_seq, last_mac, head, file, byte_offset, closed from chains where ordinal = 2"), "chain 3"],
  ["a changed checkpoint", sql("update checkpoints set positions = '{}' where id = 2"), "checkpoint 2"],
  ["a removed checkpoint", sql("delete from checkpoints where id = 1"), "checkpoint 1"],
  ["a forged cut", forgeCut, "checkpoint 3"],
  ["a cut written into a checkpoint", sql(`update checkpoints set cuts = '{"1":[7,"x"]}' where id = 2`), "checkpoint 2"],
  ["a cut moved between the columns of a checkpoint", sql(`update checkpoints set cuts = positions, positions = '{}' where id = 2`), "checkpoint 2"],
] // prettier-ignore

/** Removes the first segment and writes a cut for it that is right except for the key. */
function forgeCut(database: Database): void {
  const seal = segmentText(database, placeOfLine(1, 1)).trimEnd().slice(-43)
  without(placeOfLine(1, 1), placeOfLine(1, 7))(database)
  const last = database.prepare("select mac from checkpoints where id = 2").get() as { mac: string }
  const row = { id: 3, at: tamperingDay, positions: "{}", cuts: JSON.stringify({ 1: [7, seal] }) }
  database
    .prepare("insert into checkpoints (id, at, positions, cuts, mac) values (?, ?, ?, ?, ?)")
    .run(row.id, row.at, row.positions, row.cuts, sealCheckpoint(otherKey, last.mac, row))
}

test.each(tampering)("%s is found and named", async (_what, change, record) => {
  const { store } = await openWrittenStore()
  await withSecondConnection(store.dir, change)
  expect(await store.audit.verify()).toMatchObject({ ok: false, record })
})

test("an older copy of the store is noticed only with a checkpoint hash stored elsewhere", async () => {
  const { store, head } = await openWrittenStore()
  const copy = `${store.dir}/older.db`
  store.database.exec(`vacuum into '${copy}'`)
  await writeEntries(store, hourlyCalls(tamperingDay, 1, "e"))
  const later = await store.audit.head()
  await withSecondConnection(store.dir, (database) => {
    for (const table of ["segments", "ended", "steps", "chains", "checkpoints"]) {
      database.exec(
        `attach '${copy}' as older; delete from ${table}; insert into ${table} select * from older.${table}; detach older`,
      )
    }
  })
  expect(await store.audit.verify()).toMatchObject({ ok: true, records: 23 })
  expect(await store.audit.verify(head)).toMatchObject({ ok: true })
  expect(await store.audit.verify(later)).toMatchObject({ ok: false, record: "checkpoint 3" })
})

test("an older copy of only the chains is noticed without a checkpoint hash, because the newer checkpoint signed more", async () => {
  const { store } = await openWrittenStore()
  const older = store.database.prepare("select * from chains where ordinal = 2").get() as {
    last_seq: number
    last_mac: string
    head: string
  }
  await writeEntries(store, hourlyCalls(tamperingDay, 1, "e"))
  await store.audit.head()
  await withSecondConnection(store.dir, (database) => {
    without(placeOfLine(2, 7), placeOfLine(2, 8))(database)
    database
      .prepare("update chains set last_seq = ?, last_mac = ?, head = ? where ordinal = 2")
      .run(older.last_seq, older.last_mac, older.head)
  })
  expect(await store.audit.verify()).toMatchObject({ ok: false, record: "record 2/7" })
})

test("entries that another process writes during a verification are not reported as tampering", async () => {
  const { store } = await openWrittenStore()
  const other = await openTestStore({ dataDir: store.dir })
  const late = hourlyCalls(tamperingDay, 2, "f")
  const writes: Promise<void>[] = []
  const meanwhile = new Proxy(store.database, {
    get(target, name) {
      if (name !== "prepare") return (target[name as keyof Database] as () => unknown).bind(target)
      return (text: string) => {
        if (text.includes("from segments") && late.length > 0) writes.push(other.recorder.write(late.shift()!, "crash"))
        return target.prepare(text)
      }
    },
  })
  expect(verifyAuditLog(meanwhile, store.key)).toMatchObject({ ok: true, records: 23 })
  await Promise.all(writes)
  expect(writes.length).toBeGreaterThan(0)
  expect(await store.audit.verify()).toMatchObject({ ok: true })
})
