import fc from "fast-check"
import { expect, test } from "vitest"
import { sealCheckpoint } from "./checkpoint.ts"
import type { Database } from "./database.ts"
import { sealOf } from "./frames.ts"
import { Journal } from "./journal.ts"
import { keyOf } from "./key.ts"
import { moveBatch } from "./mover.ts"
import { entriesOf, goAround, hourly, keepAll, openRecord } from "./testing.ts"
import { verifyRecord } from "./verify.ts"

const day = Date.UTC(2026, 0, 1)

/**
 * Chain 1 was written by a journal that has ended: lines 1 to 7 one by one, 8 to 13 in one frame, 14 to 17 one by one,
 * each of these a segment. Chain 2 was written directly: two calls in lines 1 to 4, a question in 5 and a start without
 * an end in 6. Checkpoint 1 signed the first chain, checkpoint 2 both.
 */
async function written() {
  const store = await openRecord()
  const { database, key, journalDir: dir } = store
  const journal = new Journal(dir, key, "", () => {})
  const keep = (entry: Parameters<Journal["keep"]>[0]) => journal.keep(entry, "crash")
  for (const entry of hourly(day, 3, "a")) await keep(entry)
  moveBatch({ database, key, dir }, journal.uuid)
  await Promise.all(hourly(day, 3, "b").map(keep))
  moveBatch({ database, key, dir }, journal.uuid)
  for (const entry of hourly(day, 2, "c")) await keep(entry)
  journal.close()
  await store.audit.catchUp()
  const [start] = entriesOf({ callId: "w", at: day })
  await keepAll(store, [...hourly(day, 2, "d"), { kind: "asked", callId: "w", at: day }, start])
  const head = await store.audit.head()
  expect(await store.audit.verify(head)).toEqual({ ok: true, records: 23, chains: 2 })
  return { store, head }
}

/** Somebody without the key makes seals of his own. */
const otherKey = keyOf("cd".repeat(32))

const place = (chain: number, line: number) => chain * 2 ** 32 + line
const textOf = (database: Database, at: number) =>
  (database.prepare("select text from segments where place = ?").get(at) as { text: string }).text
const setText = (database: Database, at: number, text: string) =>
  database.prepare("update segments set text = ? where place = ?").run(text, at)

/** Lines of a segment whose frames have one line each, with their seals. */
function edit(at: number, change: (pairs: [string, string][]) => void) {
  return (database: Database) => {
    const lines = textOf(database, at).trimEnd().split("\n")
    const pairs = lines.flatMap((line, index) =>
      index % 2 === 0 ? [[line, lines[index + 1]!] as [string, string]] : [],
    )
    change(pairs)
    setText(database, at, `${pairs.flat().join("\n")}\n`)
  }
}

/** Lines of the segment whose lines are one frame. */
function editFrame(change: (lines: string[]) => void) {
  return (database: Database) => {
    const lines = textOf(database, place(1, 8)).trimEnd().split("\n")
    const seal = lines.pop()!
    change(lines)
    setText(database, place(1, 8), `${[...lines, seal].join("\n")}\n`)
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
  ["a changed line", edit(place(1, 1), (pairs) => (pairs[3]![0] = pairs[3]![0].replace("developer", "root"))), "record 1/4"],
  ["a changed line with a seal of another key", edit(place(1, 1), (pairs) => { const line = pairs[3]![0].replace("developer", "root"); pairs[3] = [line, `#${sealOf(otherKey, pairs[2]![1].slice(1), `${line}\n`)}`] }), "record 1/4"],
  ["a changed line in a frame of many", editFrame((lines) => (lines[2] = lines[2]!.replace("developer", "root"))), "record 1/8 to 1/13"],
  ["a removed line", edit(place(1, 1), (pairs) => pairs.splice(3, 1)), "record 1/4"],
  ["a removed line in a frame of many", editFrame((lines) => lines.splice(2, 1)), "record 1/8 to 1/12"],
  ["a removed last line of a segment", edit(place(1, 1), (pairs) => pairs.pop()), "record 1/6"],
  ["a line put in twice", edit(place(1, 1), (pairs) => pairs.splice(4, 0, pairs[3]!)), "record 1/5"],
  ["two lines swapped", edit(place(1, 1), (pairs) => swap(pairs, 3, 4)), "record 1/4"],
  ["two lines swapped in a frame of many", editFrame((lines) => swap(lines, 1, 4)), "record 1/8 to 1/13"],
  ["two segments swapped", (database) => { const [one, other] = [textOf(database, place(1, 1)), textOf(database, place(1, 14))]; setText(database, place(1, 1), other); setText(database, place(1, 14), one) }, "record 1/1"],
  ["the first segment removed", without(place(1, 1), place(1, 7)), "record 1/1"],
  ["a middle segment removed", without(place(1, 8), place(1, 13)), "record 1/8"],
  ["the tail of a journal cut", without(place(1, 14), place(1, 17)), "record 1/14"],
  ["the tail of a direct chain cut", without(place(2, 6), place(2, 6)), "record 2/6"],
  ["a segment put in behind the end", sql(`insert into segments values (${place(2, 7)}, 7, (select text from segments where place = ${place(2, 6)}))`), "record 2/7"],
  ["a segment of no chain", sql(`insert into segments values (${place(9, 1)}, 1, '')`), "record 9/1"],
  ["a segment that says another length", sql(`update segments set last_seq = 12 where place = ${place(1, 8)}`), "record 1/13"],
  ["an empty segment", sql(`update segments set text = '' where place = ${place(1, 8)}`), "record 1/7"],
  ["a changed role in what finds a call", sql(`update ended set role = 'root' where place = ${place(1, 5)}`), "record 1/5"],
  ["a role taken out of what finds a call", sql(`update ended set role = '' where place = ${place(1, 5)}`), "record 1/5"],
  ["a changed ending in what finds a call", sql(`update ended set ending = 'timeout' where place = ${place(1, 5)}`), "record 1/5"],
  ["a changed time in what finds a call", sql(`update ended set at = at + 1 where place = ${place(1, 5)}`), "record 1/5"],
  ["a changed agent in what finds a call", sql(`update ended set agent = 'bob' where place = ${place(2, 2)}`), "record 2/2"],
  ["a finder removed", sql(`delete from ended where place = ${place(1, 5)}`), "record 1/5"],
  ["a finder put in", sql(`insert into ended select ${place(1, 99)}, call, start_place, at, agent, tool, ending, duration_ms, role from ended limit 1`), "record 1/99"],
  ["a finder of no chain", sql(`insert into ended select ${place(9, 1)}, call, start_place, at, agent, tool, ending, duration_ms, role from ended limit 1`), "record 9/1"],
  ["a step removed", sql(`delete from steps where place = ${place(2, 5)}`), "record 2/5"],
  ["a step changed", sql(`update steps set kind = 'answered' where place = ${place(2, 5)}`), "record 2/5"],
  ["what finds a start without an end removed", sql(`delete from steps where place = ${place(2, 6)}`), "record 2/6"],
  ["what finds a start without an end changed", sql(`update steps set call = 'x' where place = ${place(2, 6)}`), "record 2/6"],
  ["a head set back", sql("update chains set last_seq = last_seq - 1 where ordinal = 1"), "chain 1"],
  ["a chain removed", sql(`delete from chains where ordinal = 1`), "chain 1"],
  ["the last chain removed with all it had", (database) => { without(place(2, 0), place(3, 0))(database); database.exec("delete from chains where ordinal = 2") }, "chain 2"],
  ["a chain put in", sql("insert into chains select 3, 'x', owner, link, last_seq, last_mac, head, file, byte_offset, closed from chains where ordinal = 2"), "chain 3"],
  ["a changed checkpoint", sql("update checkpoints set positions = '{}' where id = 2"), "checkpoint 2"],
  ["a removed checkpoint", sql("delete from checkpoints where id = 1"), "checkpoint 1"],
  ["a forged cut", forgeCut, "checkpoint 3"],
  ["a cut written into a checkpoint", sql(`update checkpoints set cuts = '{"1":[7,"x"]}' where id = 2`), "checkpoint 2"],
  ["a cut moved between the columns of a checkpoint", sql(`update checkpoints set cuts = positions, positions = '{}' where id = 2`), "checkpoint 2"],
] // prettier-ignore

/** The first segment is gone, and a cut says that this is right: everything about it is, but the key. */
function forgeCut(database: Database): void {
  const seal = textOf(database, place(1, 1)).trimEnd().slice(-43)
  without(place(1, 1), place(1, 7))(database)
  const last = database.prepare("select mac from checkpoints where id = 2").get() as { mac: string }
  const row = { id: 3, at: day, positions: "{}", cuts: JSON.stringify({ 1: [7, seal] }) }
  database
    .prepare("insert into checkpoints (id, at, positions, cuts, mac) values (?, ?, ?, ?, ?)")
    .run(row.id, row.at, row.positions, row.cuts, sealCheckpoint(otherKey, last.mac, row))
}

test.each(tampering)("%s is found and named", async (_what, change, record) => {
  const { store } = await written()
  await goAround(store.dir, change)
  expect(await store.audit.verify()).toMatchObject({ ok: false, record })
})

test("an older copy of the store is found with a head kept elsewhere, and only with it", async () => {
  const { store, head } = await written()
  const copy = `${store.dir}/older.db`
  store.database.exec(`vacuum into '${copy}'`)
  await keepAll(store, hourly(day, 1, "e"))
  const later = await store.audit.head()
  await goAround(store.dir, (database) => {
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

test("an older copy of the chains alone is found without a head, because the newer checkpoint signed more", async () => {
  const { store } = await written()
  const older = store.database.prepare("select * from chains where ordinal = 2").get() as {
    last_seq: number
    last_mac: string
    head: string
  }
  await keepAll(store, hourly(day, 1, "e"))
  await store.audit.head()
  await goAround(store.dir, (database) => {
    without(place(2, 7), place(2, 8))(database)
    database
      .prepare("update chains set last_seq = ?, last_mac = ?, head = ? where ordinal = 2")
      .run(older.last_seq, older.last_mac, older.head)
  })
  expect(await store.audit.verify()).toMatchObject({ ok: false, record: "record 2/7" })
})

test("law: one changed character anywhere in the record is found", async () => {
  const { store } = await written()
  const { database, key } = store
  const places = (database.prepare("select place from segments").all() as { place: number }[]).map((row) => row.place)
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      fc.nat(),
      fc.constantFrom("x", "0", " ", "#", "\n"),
      (at, where, instead) => {
        const text = textOf(database, at)
        const position = where % text.length
        fc.pre(text[position] !== instead)
        setText(database, at, text.slice(0, position) + instead + text.slice(position + 1))
        try {
          expect(verifyRecord(database, key)).toMatchObject({ ok: false })
        } finally {
          setText(database, at, text)
        }
      },
    ),
    { numRuns: 300 },
  )
  expect(verifyRecord(database, key)).toMatchObject({ ok: true })
})

test("what another process writes while the record is verified is not taken for tampering", async () => {
  const { store } = await written()
  const other = await openRecord({ dataDir: store.dir })
  const late = hourly(day, 2, "f")
  const writes: Promise<void>[] = []
  const meanwhile = new Proxy(store.database, {
    get(target, name) {
      if (name !== "prepare") return (target[name as keyof Database] as () => unknown).bind(target)
      return (text: string) => {
        if (text.includes("from segments") && late.length > 0) writes.push(other.recorder.keep(late.shift()!, "crash"))
        return target.prepare(text)
      }
    },
  })
  expect(verifyRecord(meanwhile, store.key)).toMatchObject({ ok: true, records: 23 })
  await Promise.all(writes)
  expect(writes.length).toBeGreaterThan(0)
  expect(await store.audit.verify()).toMatchObject({ ok: true })
})
