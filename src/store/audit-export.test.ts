import { expect, test } from "vitest"
import type { AuditFilter } from "../model/ports.ts"
import type { ExportedCall } from "../model/app.ts"
import type { RecordEntry } from "../model/record.ts"
import { Journal } from "./journal.ts"
import { entriesOf, goAround, hourly, keepAll, openRecord } from "./testing.ts"

const hour = 3_600_000
const day = Date.UTC(2026, 0, 1, 9)

type Record = Awaited<ReturnType<typeof openRecord>>

async function exported({ audit }: Record, filter?: AuditFilter): Promise<ExportedCall[]> {
  const calls: ExportedCall[] = []
  for await (const call of audit.export(filter)) calls.push(call)
  return calls
}

/** Many calls in one frame: a segment, and quick. */
async function keepMany(store: Record, entries: readonly RecordEntry[]): Promise<void> {
  const journal = new Journal(store.journalDir, store.key, "", () => {})
  await Promise.all(entries.map((entry) => journal.keep(entry, "crash")))
  journal.close()
  await store.audit.catchUp()
}

test("every ended call is exported flat, with what its start said [S2-75] [S2-77] [S2-78]", async () => {
  const store = await openRecord()
  const [start, end] = entriesOf({ callId: "one", at: day, input: '{"text":"1"}' })
  const reasons = [{ voice: "rule", source: "rules[0]", sentence: "Docs are public." }]
  await keepAll(store, [{ ...start, taskId: "t", userId: "u", parentCallId: "above", reasons }, end])
  await keepAll(store, entriesOf({ callId: "two", at: day + hour, code: "tool_failed" }))
  expect(await exported(store)).toEqual([
    {
      callId: "one",
      at: day + 5,
      agentId: "ann",
      role: "developer",
      tool: "probe",
      version: "1.0.0",
      status: "success",
      code: "",
      startedAt: day,
      durationMs: 5,
      sessionId: "s",
      taskId: "t",
      userId: "u",
      parentCallId: "above",
      input: '{"text":"1"}',
      inputDigest: "",
      result: '"done one"',
      error: "",
      reasons: JSON.stringify(reasons),
      policy: "p",
    },
    expect.objectContaining({ callId: "two", status: "error", code: "tool_failed", error: "It failed.", result: "" }),
  ])
})

test("a refused call is exported with what its end says of it", async () => {
  const store = await openRecord()
  const [, end] = entriesOf({ callId: "no", at: day, code: "permission_denied" })
  await keepAll(store, [{ ...end, kind: "end", ran: false, input: '{"a":1}', sessionId: "s9" } as RecordEntry])
  expect(await exported(store)).toMatchObject([{ callId: "no", input: '{"a":1}', sessionId: "s9", version: "" }])
})

test("a call whose process was lost is exported with its input, though its end stands in another chain", async () => {
  const store = await openRecord()
  const [start] = entriesOf({ callId: "lost", at: day, input: '{"a":1}' })
  await keepMany(store, [start])
  expect(await exported(store)).toMatchObject([
    { callId: "lost", code: "interrupted", role: "developer", input: '{"a":1}' },
  ])
})

test("a call whose start was dropped is exported with what is left of it", async () => {
  const store = await openRecord()
  const [start, end] = entriesOf({ callId: "half", at: day, durationMs: 2 * hour })
  await keepAll(store, [start, end])
  await store.audit.drop(day + hour, "ann")
  expect(await exported(store)).toMatchObject([{ callId: "half", input: "", result: '"done half"' }])
})

test("more calls than a page holds come once each, oldest first, also when very many ended at the same moment", async () => {
  const store = await openRecord()
  const at = (index: number) => (index % 3 === 0 ? day : day + index * 7)
  const ids = Array.from({ length: 1700 }, (_, index) => `n${index}`)
  await keepMany(
    store,
    ids.flatMap((callId, index) => entriesOf({ callId, at: at(index) })),
  )
  await keepMany(store, hourly(day, 2, "late"))
  const calls = await exported(store)
  expect(calls.map((call) => call.callId).sort()).toEqual([...ids, "late0", "late1"].sort())
  expect(calls.map((call) => call.at)).toEqual(calls.map((call) => call.at).sort((one, other) => one - other))
  expect(calls.every((call) => call.result === `"done ${call.callId}"` && call.input === "{}")).toBe(true)
})

test("the filter chooses by agent, tool, status and time, and a limit ends it", async () => {
  const store = await openRecord()
  await keepAll(store, [
    ...entriesOf({ callId: "a", at: day, agentId: "ann", tool: "read" }),
    ...entriesOf({ callId: "b", at: day + hour, agentId: "ann", tool: "write", code: "timeout" }),
    ...entriesOf({ callId: "c", at: day + 2 * hour, agentId: "bob", tool: "read" }),
    ...entriesOf({ callId: "d", at: day + 3 * hour, agentId: "ann", tool: "read" }),
  ])
  const ids = async (filter: AuditFilter) => (await exported(store, filter)).map((call) => call.callId).join("")
  expect(await ids({ agentId: "ann" })).toBe("abd")
  expect(await ids({ agentId: "ann", tool: "read" })).toBe("ad")
  expect(await ids({ tool: "read" })).toBe("acd")
  expect(await ids({ status: "error" })).toBe("b")
  expect(await ids({ since: day + hour + 5, until: day + 3 * hour + 5 })).toBe("bc")
  expect(await ids({ limit: 3 })).toBe("abc")
  expect(await ids({ agentId: "carl" })).toBe("")
})

test("an export that its reader leaves early ends, and what ends meanwhile is not in it", async () => {
  const store = await openRecord()
  await keepAll(store, hourly(day, 3, "a"))
  const seen: string[] = []
  for await (const { callId } of store.audit.export()) {
    seen.push(callId)
    if (seen.length === 1) await keepAll(store, entriesOf({ callId: "new", at: Date.now() + hour }))
  }
  expect(seen).toEqual(["a0", "a1", "a2"])
  for await (const { callId } of store.audit.export()) {
    expect(callId).toBe("a0")
    break
  }
})

test("a line that cannot be read leaves its fields empty and loses no other call", async () => {
  const store = await openRecord()
  await keepAll(store, hourly(day, 2, "a"))
  await goAround(store.dir, (database) =>
    database.exec("update segments set text = 'rubbish' where place = (select min(place) + 1 from segments)"),
  )
  expect(await exported(store)).toMatchObject([
    { callId: "a0", result: "", input: "{}" },
    { callId: "a1", result: '"done a1"' },
  ])
})

test("counts by tool, agent, role, ending and hour, each adding up to the whole", async () => {
  const store = await openRecord()
  await keepAll(store, [
    ...entriesOf({ callId: "a", at: day, agentId: "ann", role: "developer", tool: "read", durationMs: 10 }),
    ...entriesOf({ callId: "b", at: day + 1000, agentId: "ann", role: "operator", tool: "read", durationMs: 30 }),
    ...entriesOf({ callId: "c", at: day + 2 * hour, agentId: "__proto__", role: "", tool: "write", code: "timeout" }),
  ])
  const all = await store.audit.stats()
  expect(all).toEqual({
    total: 3,
    failures: 1,
    byTool: { read: { count: 2, failures: 0, averageMs: 20 }, write: { count: 1, failures: 1, averageMs: 5 } },
    byAgent: Object.fromEntries([
      ["__proto__", { count: 1, failures: 1 }],
      ["ann", { count: 2, failures: 0 }],
    ]),
    byRole: {
      developer: { count: 1, failures: 0 },
      operator: { count: 1, failures: 0 },
      "": { count: 1, failures: 1 },
    },
    byEnding: { success: 2, timeout: 1 },
    byHour: { "2026-01-01T09": { count: 2, failures: 0 }, "2026-01-01T11": { count: 1, failures: 1 } },
  })
  expect(await store.audit.stats({ agentId: "ann", since: day + 500 })).toMatchObject({
    total: 1,
    byRole: { operator: { count: 1 } },
  })
  expect(await store.audit.stats({ agentId: "nobody" })).toEqual({
    total: 0,
    failures: 0,
    byTool: {},
    byAgent: {},
    byRole: {},
    byEnding: {},
    byHour: {},
  })
})

test("a call is shown in the order of its chain, though the clock was set back while it ran, and across chains by time", async () => {
  const store = await openRecord()
  const [start, end] = entriesOf({ callId: "back", at: day })
  const step = { callId: "back", agentId: "ann", tool: "probe" }
  await keepAll(store, [start, { kind: "try", at: day - hour, ...step }, { ...end, at: day - hour + 1 } as RecordEntry])
  expect((await store.audit.show("back")).map((entry) => entry.kind)).toEqual(["start", "try", "end"])
  await keepAll(store, [{ kind: "note", at: day + 3, callId: "two", text: "here" }])
  await keepMany(store, [
    { kind: "asked", at: day + 1, callId: "two" },
    { kind: "answered", at: day + 4, callId: "two" },
  ])
  expect((await store.audit.show("two")).map((entry) => entry.kind)).toEqual(["asked", "note", "answered"])
})
