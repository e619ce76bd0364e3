import { Audit } from "../../audit/audit.ts"
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import type { AuditEntry } from "../../core/audit-entry.ts"
import { dataFolder, temporaryFolder, until } from "../../testing/test-app.ts"
import { parseFrames, wholeFramesLength } from "./frames.ts"
import { Journal } from "./journal.ts"
import { newOwnerName } from "./owner.ts"
import { openStore } from "./store.ts"
import { deadOwner, someStart, someEnd, openAuditTables, writeDeadJournal } from "../testing/journal.ts"

test("the first lines are moved without a thread, and the thread continues from there", async () => {
  const dataDir = await dataFolder()
  const store = await openStore({ dataDir, owner: newOwnerName(), logger: silentLogger, writes: "journal" })
  const threads: unknown[] = []
  const started = (thread: unknown) => void threads.push(thread)
  process.on("worker", started)
  onTestFinished(() => void process.off("worker", started))
  const moved = () => (store.database.prepare("select max(last_seq) as n from chains").get() as { n: number | null }).n

  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  for (const entry of [someStart("c1"), someEnd("c1")]) await store.recorder.write(entry, "crash")
  expect(moved()).toBeNull()
  await store.recorder.settle()
  expect([moved(), threads.length]).toEqual([3, 0])

  vi.advanceTimersByTime(1000)
  vi.useRealTimers()
  await store.recorder.write(someStart("c2"), "crash")
  await until(() => moved() === 4, "the thread has moved the line")
  expect(threads).toHaveLength(1)
  await store.recorder.write(someEnd("c2"), "crash")
  await store.close()

  const again = await openStore({ dataDir, owner: newOwnerName(), logger: silentLogger, writes: "direct" })
  onTestFinished(() => again.close())
  const audit = new Audit(again.database, again.key, again.journalDir)
  expect((await audit.list()).map(({ callId, status }) => `${callId} ${status}`).sort()).toEqual([
    "c1 success",
    "c2 success",
  ])
  expect(await audit.verify()).toMatchObject({ ok: true, records: 5 })
})

test("a torn last piece is dropped and noted", async () => {
  const table = await openAuditTables()
  const { file } = await writeDeadJournal(table.journalDir, table.key)
  appendFileSync(file, '{"n":99,"kind":"start","callId":"half')
  await table.audit.list()
  const direct = table.database.prepare("select text from segments").all() as { text: string }[]
  expect(direct.map((row) => row.text).join("")).toContain("A torn last piece of 37 bytes was dropped")
  expect(await table.audit.verify()).toMatchObject({ ok: true })
})

test("entries written in one turn share a frame, and an end has the number of its start", async () => {
  const table = await openAuditTables()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await Promise.all(["a", "b", "c"].map((id) => journal.write(someStart(id), "crash")))
  await Promise.all(["c", "a"].map((id) => journal.write(someEnd(id), "power")))
  journal.close()
  const [file] = readdirSync(table.journalDir)
  const frames = [...parseFrames(readFileSync(join(table.journalDir, file!), "utf8"))]
  expect(frames.map((frame) => frame.lines.length)).toEqual([1, 3, 2])
  expect(frames[2]!.lines.map((line) => (JSON.parse(line) as { s: number }).s)).toEqual([4, 2])
})

test("an entry that cannot be written is refused, and the next one succeeds when the disk works again", async () => {
  const dir = join(temporaryFolder(), "journal")
  writeFileSync(dir, "a file where the folder should be")
  const { key } = await openAuditTables()
  const journal = new Journal(dir, key, "me", () => {})
  await expect(journal.write(someStart("a"), "crash")).rejects.toThrow("The journal cannot be written")
  rmSync(dir)
  await journal.write(someStart("a"), "power")
  journal.close()
  const [file] = readdirSync(dir)
  expect(readFileSync(join(dir, file!), "utf8")).toContain('"callId":"a"')
})

test("a journal lengthened for synced entries is read up to its last entry, also after kill -9", async () => {
  const table = await openAuditTables()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.write(someStart("a"), "power")
  await journal.write(someEnd("a"), "power")
  await journal.write(someStart("b"), "crash")
  const [file] = readdirSync(table.journalDir)
  expect(readFileSync(join(table.journalDir, file!)).length).toBeGreaterThan(1_000_000)
  expect((await table.audit.list()).map((row) => [row.callId, row.code ?? row.status])).toEqual([
    ["b", "interrupted"],
    ["a", "success"],
  ])
  const notes = table.database.prepare("select text from segments").all() as { text: string }[]
  expect(notes.map((row) => row.text).join("")).not.toContain("torn")
  expect(await table.audit.verify()).toMatchObject({ ok: true })
})

test("closing a journal removes its reserved space", async () => {
  const table = await openAuditTables()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.write(someStart("a"), "power")
  const [file] = readdirSync(table.journalDir)
  journal.close()
  expect(readFileSync(join(table.journalDir, file!)).includes(0)).toBe(false)
})

test("a damaged line in a journal does not prevent reading the rest, and verify names it", async () => {
  const table = await openAuditTables()
  const { file, text } = await writeDeadJournal(table.journalDir, table.key)
  writeFileSync(file, text.toString("utf8").replace('"callId":"c3","at":9', '"callId":"c3","at":{'))
  expect(readFileSync(file).equals(text)).toBe(false)
  expect((await table.audit.list()).filter((row) => row.status === "success")).toHaveLength(8)
  expect(await table.audit.verify()).toMatchObject({ ok: false, record: expect.stringContaining("record 1/") })
})

test("names that the database would change are stored so that the audit log still verifies", async () => {
  const table = await openAuditTables()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  for (const name of ["\ud800", "a\0b", 7 as never])
    await journal.write({ ...someEnd(`c-${String(name)}`), tool: name, agentId: name }, "crash")
  journal.close()
  expect(await table.audit.list()).toHaveLength(3)
  expect(await table.audit.verify()).toMatchObject({ ok: true })
})

/** The frames in the file, as kind and call of each line. */
function framesIn(dir: string): string[][] {
  const text = readdirSync(dir).map((file) => readFileSync(join(dir, file), "utf8"))
  const frames = text.flatMap((each) => [...parseFrames(each.slice(0, wholeFramesLength(each)))])
  const named = frames.map(({ lines }) => lines.map((line) => JSON.parse(line) as AuditEntry & { s?: number }))
  return named.map((lines) =>
    lines.map(({ kind, callId, s }) => `${kind} ${callId}${s === undefined ? "" : ` of ${s}`}`),
  )
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test("a queued start shares a frame with an end of the same turn, and the end has its number", async () => {
  const { journalDir, key } = await openAuditTables()
  const journal = new Journal(journalDir, key, deadOwner, () => {})
  const told: string[] = []
  journal.queue(someStart("a"), () => told.push("a began"))
  journal.queue(someStart("b"), () => told.push("b began"))
  expect(readdirSync(journalDir)).toEqual([])
  await journal.write(someEnd("a"), "crash").then(() => told.push("a ended"))
  expect(framesIn(journalDir)).toEqual([["note "], ["start a", "start b", "end a of 2"]])
  expect(told).toEqual(["a began", "b began", "a ended"])
  journal.close()
})

test("a queued start without a later entry is written in the next turn of the event loop, or by flush", async () => {
  const { journalDir, key } = await openAuditTables()
  const journal = new Journal(journalDir, key, deadOwner, () => {})
  journal.queue(someStart("a"), () => {})
  await nextTurn()
  expect(framesIn(journalDir)).toEqual([["note "], ["start a"]])
  journal.queue(someStart("b"), () => {})
  journal.flush()
  expect(framesIn(journalDir)).toEqual([["note "], ["start a"], ["start b"]])
  await journal.write(someEnd("a"), "crash")
  expect(framesIn(journalDir).at(-1)).toEqual(["end a of 2"])
  journal.close()
})

test("a queued start that cannot be written is written with the next entry, or dropped with its own end", async () => {
  const { journalDir, key } = await openAuditTables()
  rmSync(journalDir, { recursive: true })
  writeFileSync(journalDir, "in the way")
  const journal = new Journal(journalDir, key, deadOwner, () => {})
  const told: string[] = []
  journal.queue(someStart("a"), () => told.push("a"))
  journal.queue(someStart("b"), () => told.push("b"))
  await nextTurn()
  await expect(journal.write(someEnd("a"), "crash")).rejects.toThrow("The journal cannot be written")
  rmSync(journalDir)
  await journal.write(someEnd("b"), "crash")
  expect(framesIn(journalDir)).toEqual([["note "], ["start b", "end b of 2"]])
  expect(told).toEqual(["b"])
  journal.close()
})
