import { expect, test } from "vitest"
import type { AuditFilter } from "../store/port.ts"
import type { AuditEntry } from "../core/audit-entry.ts"
import {
  callEntries,
  withSecondConnection,
  hourlyCalls,
  writeEntries,
  openTestStore,
} from "../store/testing/test-store.ts"
import { exportDay, exportAll, writeInOneFrame } from "./testing/audit-export.ts"

const hour = 3_600_000

test("every ended call is exported as one flat row, with the fields of its start", async () => {
  const store = await openTestStore()
  const [start, end] = callEntries({ callId: "one", at: exportDay, input: '{"text":"1"}' })
  const reasons = [{ check: "rule", source: "rules[0]", code: "test", sentence: "Docs are public." }]
  await writeEntries(store, [{ ...start, taskId: "t", userId: "u", parentCallId: "above", reasons }, end])
  await writeEntries(store, callEntries({ callId: "two", at: exportDay + hour, code: "tool_failed" }))
  expect(await exportAll(store)).toEqual([
    {
      callId: "one",
      at: exportDay + 5,
      agentId: "ann",
      role: "developer",
      tool: "probe",
      version: "1.0.0",
      status: "success",
      code: "",
      startedAt: exportDay,
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

test("a refused call is exported with the fields of its end", async () => {
  const store = await openTestStore()
  const [, end] = callEntries({ callId: "no", at: exportDay, code: "permission_denied" })
  await writeEntries(store, [{ ...end, kind: "end", ran: false, input: '{"a":1}', sessionId: "s9" } as AuditEntry])
  expect(await exportAll(store)).toMatchObject([{ callId: "no", input: '{"a":1}', sessionId: "s9", version: "" }])
})

test("a call whose process died is exported with its input, although its end is in another chain", async () => {
  const store = await openTestStore()
  const [start] = callEntries({ callId: "lost", at: exportDay, input: '{"a":1}' })
  await writeInOneFrame(store, [start])
  expect(await exportAll(store)).toMatchObject([
    { callId: "lost", code: "interrupted", role: "developer", input: '{"a":1}' },
  ])
})

test("a call whose start was dropped is exported with the fields of its end", async () => {
  const store = await openTestStore()
  const [start, end] = callEntries({ callId: "half", at: exportDay, durationMs: 2 * hour })
  await writeEntries(store, [start, end])
  await store.audit.drop(exportDay + hour, "ann")
  expect(await exportAll(store)).toMatchObject([{ callId: "half", input: "", result: '"done half"' }])
})

test("an export can be filtered by agent, tool, status and time, and limited", async () => {
  const store = await openTestStore()
  await writeEntries(store, [
    ...callEntries({ callId: "a", at: exportDay, agentId: "ann", tool: "read" }),
    ...callEntries({ callId: "b", at: exportDay + hour, agentId: "ann", tool: "write", code: "timeout" }),
    ...callEntries({ callId: "c", at: exportDay + 2 * hour, agentId: "bob", tool: "read" }),
    ...callEntries({ callId: "d", at: exportDay + 3 * hour, agentId: "ann", tool: "read" }),
  ])
  const ids = async (filter: AuditFilter) => (await exportAll(store, filter)).map((call) => call.callId).join("")
  expect(await ids({ agentId: "ann" })).toBe("abd")
  expect(await ids({ agentId: "ann", tool: "read" })).toBe("ad")
  expect(await ids({ tool: "read" })).toBe("acd")
  expect(await ids({ status: "error" })).toBe("b")
  expect(await ids({ since: exportDay + hour + 5, until: exportDay + 3 * hour + 5 })).toBe("bc")
  expect(await ids({ limit: 3 })).toBe("abc")
  expect(await ids({ agentId: "carl" })).toBe("")
})

test("an export can be left early, and calls that end meanwhile are not in it", async () => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(exportDay, 3, "a"))
  const seen: string[] = []
  for await (const { callId } of store.audit.export()) {
    seen.push(callId)
    if (seen.length === 1) await writeEntries(store, callEntries({ callId: "new", at: Date.now() + hour }))
  }
  expect(seen).toEqual(["a0", "a1", "a2"])
  for await (const { callId } of store.audit.export()) {
    expect(callId).toBe("a0")
    break
  }
})

test("an unreadable line leaves its fields empty and does not affect other calls", async () => {
  const store = await openTestStore()
  await writeEntries(store, hourlyCalls(exportDay, 2, "a"))
  await withSecondConnection(store.dir, (database) =>
    database.exec("update segments set text = 'rubbish' where place = (select min(place) + 1 from segments)"),
  )
  expect(await exportAll(store)).toMatchObject([
    { callId: "a0", result: "", input: "{}" },
    { callId: "a1", result: '"done a1"' },
  ])
})

test("counts by tool, agent, role, ending and hour, each adding up to the whole", async () => {
  const store = await openTestStore()
  await writeEntries(store, [
    ...callEntries({ callId: "a", at: exportDay, agentId: "ann", role: "developer", tool: "read", durationMs: 10 }),
    ...callEntries({
      callId: "b",
      at: exportDay + 1000,
      agentId: "ann",
      role: "operator",
      tool: "read",
      durationMs: 30,
    }),
    ...callEntries({
      callId: "c",
      at: exportDay + 2 * hour,
      agentId: "__proto__",
      role: "",
      tool: "write",
      code: "timeout",
    }),
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
  expect(await store.audit.stats({ agentId: "ann", since: exportDay + 500 })).toMatchObject({
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

test("a call's entries keep the order of their chain when the clock is set back, and are merged across chains by time", async () => {
  const store = await openTestStore()
  const [start, end] = callEntries({ callId: "back", at: exportDay })
  const step = { callId: "back", agentId: "ann", tool: "probe" }
  await writeEntries(store, [
    start,
    { kind: "try", at: exportDay - hour, ...step },
    { ...end, at: exportDay - hour + 1 } as AuditEntry,
  ])
  expect((await store.audit.show("back")).map((entry) => entry.kind)).toEqual(["start", "try", "end"])
  await writeEntries(store, [{ kind: "note", at: exportDay + 3, callId: "two", text: "here" }])
  await writeInOneFrame(store, [
    { kind: "asked", at: exportDay + 1, callId: "two" },
    { kind: "answered", at: exportDay + 4, callId: "two" },
  ])
  expect((await store.audit.show("two")).map((entry) => entry.kind)).toEqual(["asked", "note", "answered"])
})
