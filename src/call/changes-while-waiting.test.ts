import { expect, test } from "vitest"
import { z } from "zod"
import type { ToolContext } from "../core/tool.ts"
import { deferred, openTestApp, tool, until } from "../testing/test-app.ts"
import { expectTicket } from "./testing.ts"

const probing = { agentId: "operator", tool: "probe", input: {} }
const moderate = { level: "moderate" } as const

test("law 3: a remembered approval covers only the preview that was shown", async () => {
  const system = await openTestApp()
  let shown = "harmless"
  const ran: string[] = []
  system.registry.register(tool({ permission: moderate, preview: () => shown, execute: () => ran.push(shown) }))
  const { callId } = expectTicket(await system.call(probing, { waitMs: 0 }))
  shown = "something else"
  expect(await system.approvals.answer(callId, { kind: "approve", remember: "input-session" }, "ann")).toMatchObject({
    ok: true,
  })
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(ran).toEqual([])
  expect((await system.approvals.list())[0]).toMatchObject({ preview: "something else", revision: 2 })
  await system.approvals.answer(callId, { kind: "approve" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ success: true })
})

const added: [string, object, string][] = [
  ["a deny rule", { deny: "probe", because: "Not now." }, "tool_not_available"],
  ["a deny rule on its input", { deny: "probe", args: { "/n": "1" }, because: "Not this one." }, "permission_denied"],
  ["an ask rule", { ask: "probe", because: "Somebody looks." }, "permission_denied"],
]

test.each(added)("%s that is added while a call waits for a permit counts", async (_what, rule, code) => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  const gate = deferred()
  let [runs, requested] = [0, 0]
  system.on("TOOL_CALL_REQUESTED", () => requested++)
  system.registry.register(tool({ name: "busy", execute: () => gate.promise }))
  system.registry.register(tool({ input: z.object({ n: z.number() }) as never, execute: () => ++runs }))
  const busy = system.call({ ...probing, tool: "busy" })
  const queued = system.call({ ...probing, input: { n: 1 } })
  await until(() => requested === 2, "one runs and one waits for its turn")
  await system.rules.add(rule, "ann")
  gate.resolve()
  await busy
  expect(await queued).toMatchObject({ code, metadata: { ran: false } })
  expect(runs).toBe(0)
})

test("a call that waited for a permit runs if nothing changed, also when it fills its own limit", async () => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  const gate = deferred()
  system.registry.register(tool({ name: "busy", execute: () => gate.promise }))
  system.registry.register(tool({ permission: { rateLimit: { maxCallsPerHour: 1 } }, execute: () => "ran" }))
  const busy = system.call({ ...probing, tool: "busy" })
  const queued = system.call(probing)
  gate.resolve()
  await busy
  expect(await queued).toMatchObject({ result: "ran" })
})

test("nothing begins after freeze has resolved, however far a call had come", async () => {
  const system = await openTestApp({ data: { durability: "power" } })
  let frozen = false
  let late = 0
  system.registry.register(
    tool({ effect: "write", permission: { level: "public" }, execute: () => (late += Number(frozen)) }),
  )
  const callUntilRefused = async () => {
    for (;;) {
      const { code } = await system.call(probing)
      if (code !== undefined) return code
    }
  }
  const callers = Array.from({ length: 20 }, callUntilRefused)
  await system.freeze({ agentId: "operator", by: "ann" })
  frozen = true
  expect(await Promise.all(callers)).toEqual(Array(20).fill("frozen"))
  expect(late).toBe(0)
})

test("a quorum counts for a question too", async () => {
  const rules = [{ ask: "probe", approvers: { role: "boss", count: 2 }, because: "Two bosses answer." }]
  const system = await openTestApp({ rules })
  let received: unknown
  system.registry.register(
    tool({
      question: () => ({ question: "Which?" }),
      execute: (_input, { answer }: ToolContext) => (received = answer),
    }),
  )
  const admin = { kind: "person", id: "admin" } as const
  for (const id of ["ann", "bob"]) await system.org.createPerson({ id, roles: ["boss"] }, admin)
  const { callId } = expectTicket(await system.call({ ...probing, userId: "mallory" }, { waitMs: 0 }))
  const answer = (by: string, value: string) => system.approvals.answer(callId, { kind: "answer", value }, by)
  expect(await answer("mallory", "mine")).toMatchObject({ ok: false })
  expect(await answer("ann", "left")).toMatchObject({ ok: true, done: false })
  expect(await answer("ann", "left")).toMatchObject({ ok: false })
  expect(await answer("bob", "right")).toMatchObject({ ok: true, done: true })
  expect(await system.resume(callId)).toMatchObject({ success: true })
  expect(received).toBe("right")
})

test("calls that composite tools make in two sessions are two calls", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      name: "both",
      kind: "composite",
      execute: (_input, { call }: ToolContext) => call("set_env", { key: "A", value: "1" }),
    }),
  )
  const calls = ["s1", "s2"].map((sessionId) => system.call({ ...probing, tool: "both", sessionId }))
  await until(async () => (await system.approvals.list()).length === 2, "each has a card of its own")
  for (const { callId } of await system.approvals.list())
    await system.approvals.answer(callId, { kind: "approve" }, "ann")
  expect(await Promise.all(calls)).toMatchObject([{ success: true }, { success: true }])
})

test("a key that was used for one user conflicts for another", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ execute: (_input, { userId }: ToolContext) => `mailbox of ${userId}` }))
  const call = (userId: string) => system.call({ ...probing, userId, key: "k" })
  expect(await call("alice")).toMatchObject({ result: "mailbox of alice" })
  expect(await call("bob")).toMatchObject({ code: "key_conflict" })
})

test("cancelling a call does not cancel the calls that joined it", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: moderate, execute: () => "ran" }))
  const controller = new AbortController()
  const first = system.call({ ...probing, signal: controller.signal })
  await until(async () => (await system.approvals.list()).length === 1, "the first waits")
  const second = system.call(probing)
  const announced = deferred()
  system.on("TOOL_CALL_WAITING", () => announced.resolve())
  await announced.promise
  controller.abort()
  expect(await first).toMatchObject({ code: "aborted" })
  await until(async () => (await system.approvals.list()).length === 1, "the second call waits on its own")
  const [item] = await system.approvals.list()
  await system.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await second).toMatchObject({ result: "ran" })
})

test("a grant is not used any more once another process has revoked it", async () => {
  const first = await openTestApp()
  const second = await openTestApp({ data: { dir: first.dir } })
  for (const system of [first, second]) system.registry.register(tool({ permission: moderate, execute: () => "ran" }))
  const { callId } = expectTicket(await first.call(probing, { waitMs: 0 }))
  await first.approvals.answer(callId, { kind: "approve", remember: "tool-always" }, "ann")
  expect(await first.resume(callId)).toMatchObject({ result: "ran" })
  await until(async () => (await second.approvals.grants()).length === 1, "the other process knows the grant")
  expect(await second.call(probing)).toMatchObject({ result: "ran" })
  const [grant] = await first.approvals.grants()
  await first.approvals.revoke(grant!.id, "ann")
  expect(expectTicket(await second.call(probing, { waitMs: 0 })).state).toBe("waiting")
})

test("a call that another process takes over ends once in the audit log, and both get the same result", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: moderate, execute: () => "ran" }))
  const call = system.call(probing)
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  const { callId } = (await system.approvals.list())[0]!
  const other = await openTestApp({ data: { dir: system.dir } })
  other.registry.register(tool({ permission: moderate, execute: () => "ran elsewhere" }))
  const { changeRow } = await import("./testing.ts")
  await changeRow(system.dir, callId, () => ({ owner: "" }))
  const resumed = other.resume(callId)
  await other.approvals.answer(callId, { kind: "approve" }, "ann")
  const results = [await call, await resumed]
  expect(new Set(results.map((result) => "result" in result && result.result)).size).toBe(1)
  expect(await other.audit.list()).toHaveLength(1)
})

test("every policy change is in the audit log, and its history is found by its name", async () => {
  const system = await openTestApp()
  const ann = { kind: "person", id: "ann" } as const
  const { role } = await system.org.createRole({ name: "tester", toolGroups: ["data"] }, ann)
  await system.org.updateRole("tester", { level: 2 }, ann)
  await system.org.deleteRole("tester", ann)
  const story = await system.audit.show(`role:${role.id}`)
  expect(story).toMatchObject([
    { kind: "note", by: "ann", text: expect.stringMatching(/^role made: .*"tester"/) },
    { by: "ann", text: expect.stringMatching(/^role changed: .*"level":2/) },
    { by: "ann", text: expect.stringMatching(/^role ended: /) },
  ])
  const { token } = await system.org.createPerson({ id: "bob" }, ann)
  expect(JSON.stringify(await system.audit.show("person:bob"))).not.toMatch(/[0-9a-f]{64}/)
  expect(token).toBeTruthy()
  await system.freeze({ agentId: "operator", by: "ann" })
  expect(await system.audit.show("freeze:operator")).toMatchObject([{ by: "ann" }])
  expect(await system.audit.verify()).toMatchObject({ ok: true })
})

test("the approval queue lists everything, however much waits", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({ permission: moderate, input: z.object({ n: z.number() }) as never, execute: () => 1 }),
  )
  const row = expectTicket(await system.call({ ...probing, input: { n: 0 } }, { waitMs: 0 }))
  const { openDatabase } = await import("../store/sqlite/database.ts")
  const database = await openDatabase(`${system.dir}/quartermaster.db`)
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)
    insert into calls select 'x' || i, state, owner, epoch, agent_id, session_id, key, tool, definition_hash, input, 'd' || i,
      request, asks, preview, case when i <= 50 then deadline else 1 end, answer, result, created_at - 1, updated_at,
      1000 + i, card, revision, votes, wanted, workspace from calls, n where id = '${row.callId}'`)
  database.close()
  expect(await system.approvals.list()).toHaveLength(51)
  expect(await system.approvals.show(row.callId.slice(0, -1))).toMatchObject({ callId: row.callId })
})
