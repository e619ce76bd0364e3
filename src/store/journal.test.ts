import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { silentLogger } from "../model/logger.ts"
import type { RecordEntry, StartEntry } from "../model/record.ts"
import { dataFolder, temporaryFolder, until } from "../testing/open.ts"
import { Audit } from "./audit.ts"
import { framesOf, wholeFrames } from "./frames.ts"
import { Journal } from "./journal.ts"
import type { RecordKey } from "./key.ts"
import { ownerName } from "./owner.ts"
import { openStore } from "./store.ts"

const deadOwner = "another-host-no|1|1|x".replace("another-host-no", (await import("node:os")).hostname())

const start = (callId: string): StartEntry => ({
  kind: "start",
  callId,
  at: 5,
  agentId: "a",
  tool: "t",
  sessionId: "s",
  input: '{"text":"中文 \\n"}',
})
const end = (callId: string): RecordEntry => ({
  kind: "end", callId, at: 9, agentId: "a", role: "r", tool: "t", sessionId: "s", status: "success", startedAt: 5, durationMs: 4, ran: true,
}) // prettier-ignore

async function openTable() {
  const dataDir = await dataFolder()
  const store = await openStore({ dataDir, owner: "reader", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  mkdirSync(store.journalDir)
  return { ...store, audit: new Audit(store.database, store.key, store.journalDir) }
}

/** A journal of a process that is gone: ten calls, each line a frame of its own, the last call without its end. */
async function writtenJournal(
  dir: string,
  key: RecordKey,
): Promise<{ file: string; text: Buffer; acknowledged: number[] }> {
  const journal = new Journal(dir, key, deadOwner, () => {})
  const acknowledged: number[] = []
  const name = () =>
    join(
      dir,
      readdirSync(dir).find((file) => file.startsWith(journal.uuid))!,
    )
  for (let call = 0; call < 10; call++) {
    for (const entry of call === 9 ? [start("c9")] : [start(`c${call}`), end(`c${call}`)]) {
      await journal.keep(entry, "crash")
      acknowledged.push(readFileSync(name()).length)
    }
  }
  journal.close()
  const file = name()
  return { file, text: readFileSync(file), acknowledged }
}

test("lines that had no time to gather are moved without a thread, and a thread takes over from there", async () => {
  const dataDir = await dataFolder()
  const store = await openStore({ dataDir, owner: ownerName(), logger: silentLogger, writes: "journal" })
  const threads: unknown[] = []
  const started = (thread: unknown) => void threads.push(thread)
  process.on("worker", started)
  onTestFinished(() => void process.off("worker", started))
  const moved = () => (store.database.prepare("select max(last_seq) as n from chains").get() as { n: number | null }).n

  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  for (const entry of [start("c1"), end("c1")]) await store.recorder.keep(entry, "crash")
  expect(moved()).toBeNull()
  await store.recorder.settle()
  expect([moved(), threads.length]).toEqual([3, 0])

  vi.advanceTimersByTime(1000)
  vi.useRealTimers()
  await store.recorder.keep(start("c2"), "crash")
  await until(() => moved() === 4, "the thread has moved the line")
  expect(threads).toHaveLength(1)
  await store.recorder.keep(end("c2"), "crash")
  await store.close()

  const again = await openStore({ dataDir, owner: ownerName(), logger: silentLogger, writes: "direct" })
  onTestFinished(() => again.close())
  const audit = await again.audit()
  expect((await audit.list()).map(({ callId, status }) => `${callId} ${status}`).sort()).toEqual([
    "c1 success",
    "c2 success",
  ])
  expect(await audit.verify()).toMatchObject({ ok: true, records: 5 })
})

test("a journal cut at every byte of its last ten records loses nothing that was acknowledged before the cut", async () => {
  const table = await openTable()
  const { file, text, acknowledged } = await writtenJournal(table.journalDir, table.key)
  const from = acknowledged.at(-11)!
  for (let cut = from; cut <= text.length; cut += 1) {
    const fresh = cut % 40 === 0 || acknowledged.includes(cut) || acknowledged.includes(cut + 1)
    const whole = wholeFrames(text.subarray(0, cut).toString("utf8"))
    const kept = acknowledged.filter((size) => size <= cut).length
    const lines = [...framesOf(text.subarray(0, cut).toString("utf8").slice(0, whole))].flatMap((frame) => frame.lines)
    expect(lines.length - 1).toBe(kept)
    if (!fresh) continue
    // The whole way: another process finds it, moves it, and says what became of it.
    const again = await openTable()
    rmSync(join(again.journalDir, "..", "record.key"))
    writeFileSync(join(again.journalDir, file.split("/").at(-1)!), text.subarray(0, cut))
    const audit = new Audit(again.database, table.key, again.journalDir)
    const rows = await audit.list({ limit: 100 })
    const starts = acknowledged.slice(0, kept).filter((_, index) => index % 2 === 0).length
    expect(rows).toHaveLength(starts)
    const ended = acknowledged.slice(0, kept).filter((_, index) => index % 2 === 1).length
    expect(rows.filter((row) => row.status === "success")).toHaveLength(ended)
    expect(rows.filter((row) => row.code === "interrupted")).toHaveLength(starts - ended)
    expect(await audit.verify()).toMatchObject({ ok: true })
    expect(readdirSync(again.journalDir)).toEqual([])
  }
}, 60_000)

test("a torn last piece is dropped and noted", async () => {
  const table = await openTable()
  const { file } = await writtenJournal(table.journalDir, table.key)
  appendFileSync(file, '{"n":99,"kind":"start","callId":"half')
  await table.audit.list()
  const direct = table.database.prepare("select text from segments").all() as { text: string }[]
  expect(direct.map((row) => row.text).join("")).toContain("A torn last piece of 37 bytes was dropped")
  expect(await table.audit.verify()).toMatchObject({ ok: true })
})

test("entries kept in one turn share one frame, and an end knows its start", async () => {
  const table = await openTable()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await Promise.all(["a", "b", "c"].map((id) => journal.keep(start(id), "crash")))
  await Promise.all(["c", "a"].map((id) => journal.keep(end(id), "power")))
  journal.close()
  const [file] = readdirSync(table.journalDir)
  const frames = [...framesOf(readFileSync(join(table.journalDir, file!), "utf8"))]
  expect(frames.map((frame) => frame.lines.length)).toEqual([1, 3, 2])
  expect(frames[2]!.lines.map((line) => (JSON.parse(line) as { s: number }).s)).toEqual([4, 2])
})

test("an entry that cannot be written is refused, and the next one goes through when it can", async () => {
  const dir = join(temporaryFolder(), "journal")
  writeFileSync(dir, "a file where the folder should be")
  const { key } = await openTable()
  const journal = new Journal(dir, key, "me", () => {})
  await expect(journal.keep(start("a"), "crash")).rejects.toThrow("The journal cannot be written")
  rmSync(dir)
  await journal.keep(start("a"), "power")
  journal.close()
  const [file] = readdirSync(dir)
  expect(readFileSync(join(dir, file!), "utf8")).toContain('"callId":"a"')
})

test("a large entry, larger than what is moved at once, comes through", async () => {
  const table = await openTable()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.keep({ ...start("big"), input: "x".repeat(9_000_000) }, "crash")
  await journal.keep(end("big"), "crash")
  journal.close()
  expect(await table.audit.list()).toMatchObject([{ callId: "big", status: "success" }])
  expect((await table.audit.show("big")).map((entry) => entry.kind)).toEqual(["start", "end"])
})

test("several readers may move the same journal at once: every line arrives once", async () => {
  const dataDir = temporaryFolder()
  const stores = []
  for (const owner of ["one", "two", "three"])
    stores.push(await openStore({ dataDir, owner, logger: silentLogger, writes: "direct" }))
  for (const store of stores) onTestFinished(() => store.close())
  const { key, journalDir } = stores[0]!
  const journal = new Journal(journalDir, key, (await import("./owner.ts")).ownerName(), () => {})
  const audits = stores.map((store) => new Audit(store.database, store.key, store.journalDir))
  for (let call = 0; call < 60; call++) {
    await journal.keep(start(`c${call}`), "crash")
    await journal.keep(end(`c${call}`), "crash")
    await Promise.all(audits.map((audit) => audit.catchUp()))
  }
  expect(await audits[0]!.list({ limit: 100 })).toHaveLength(60)
  expect(await audits[1]!.verify()).toMatchObject({ ok: true, records: 121 })
  journal.close()
})

test("a journal that was made longer for synced entries is read up to what is written, also after kill -9", async () => {
  const table = await openTable()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.keep(start("a"), "power")
  await journal.keep(end("a"), "power")
  await journal.keep(start("b"), "crash")
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

test("closing gives back what was reserved", async () => {
  const table = await openTable()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.keep(start("a"), "power")
  const [file] = readdirSync(table.journalDir)
  journal.close()
  expect(readFileSync(join(table.journalDir, file!)).includes(0)).toBe(false)
})

test("a damaged line in a journal stops nobody from reading the rest, and verify names it", async () => {
  const table = await openTable()
  const { file, text } = await writtenJournal(table.journalDir, table.key)
  writeFileSync(file, text.toString("utf8").replace('"callId":"c3","at":9', '"callId":"c3","at":{'))
  expect(readFileSync(file).equals(text)).toBe(false)
  expect((await table.audit.list()).filter((row) => row.status === "success")).toHaveLength(8)
  expect(await table.audit.verify()).toMatchObject({ ok: false, record: expect.stringContaining("record 1/") })
})

test("names a database would give back changed are stored so that the record can be verified", async () => {
  const table = await openTable()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  for (const name of ["\ud800", "a\0b", 7 as never])
    await journal.keep({ ...end(`c-${String(name)}`), tool: name, agentId: name }, "crash")
  journal.close()
  expect(await table.audit.list()).toHaveLength(3)
  expect(await table.audit.verify()).toMatchObject({ ok: true })
})
