import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { ApprovalUIAdapter } from "../../core/approval.ts"
import type { EventType } from "../../core/events.ts"
import type { ToolContext } from "../../core/tool.ts"
import { modelText } from "../../core/model-text.ts"
import { silentLogger } from "../../core/logger.ts"
import { dataFolder, deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import {
  approvePending,
  changeRow,
  expireDeadline,
  oneNumber as input,
  useFakeClock,
  expectTicket,
  leaveWaiting,
} from "../testing.ts"

const never: ApprovalUIAdapter = callbackAdapter({
  onExecution: () => new Promise(() => {}),
  onResult: () => new Promise(() => {}),
})

test.each([
  ["public", {}, 0],
  ["public", { requireExecutionApproval: true }, 1],
  ["public", { dangerous: true }, 1],
  ["public", { requireConfirmation: true }, 1],
  ["moderate", {}, 1],
  ["moderate", { requireExecutionApproval: false }, 0],
  ["sensitive", {}, 1],
  ["sensitive", { requireExecutionApproval: false }, 1],
  ["moderate", { requireExecutionApproval: false, dangerous: true }, 1],
] as const)("a %s tool with %j asks a person %i times", async (level, more, asks) => {
  let asked = 0
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution: () => ++asked > 0 }) })
  system.registry.register(tool({ permission: { level, ...more }, execute: () => "ran" }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ result: "ran" })
  expect(asked).toBe(asks)
})

test("a sensitive tool asks every time", async () => {
  let asked = 0
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution: () => ++asked > 0 }) })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  for (let call = 0; call < 3; call++) await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(asked).toBe(3)
})

test("the approver sees S1's arguments, the reasons and the preview before the tool runs", async () => {
  const seen: unknown[] = []
  let ran = false
  const adapter: ApprovalUIAdapter = {
    async showToolExecutionApproval(name, description, args, level, request) {
      seen.push(name, description, args, level, request.agentId, request.preview, request.reasons[0]?.sentence, ran)
      return { approved: true }
    },
    showToolResultApproval: () => Promise.resolve({ approved: true }),
  }
  const system = await openTestApp({}, { approvals: adapter })
  system.registry.register(
    tool({
      input,
      permission: { level: "sensitive" },
      preview: ({ n }: { n: number }) => `n is ${n}`,
      execute: () => (ran = true),
    }),
  )
  await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(seen).toEqual([
    "probe",
    "A tool of a test.",
    { n: 1 },
    "sensitive",
    "operator",
    "n is 1",
    expect.stringContaining("sensitive"),
    false,
  ])
})

test("a rejected call is not executed, and the model reads the reason", async () => {
  let ran = false
  const system = await openTestApp(
    {},
    { approvals: callbackAdapter({ onExecution: () => ({ approved: false, rejectReason: "Not today." }) }) },
  )
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => (ran = true) }))
  const result = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(result).toMatchObject({ status: "execution_rejected", code: "approval_rejected", rejectReason: "Not today." })
  expect(modelText(result)).toContain("Not today.")
  expect(ran).toBe(false)
})

test.each([
  ["throws", () => Promise.reject(new Error("closed"))],
  ["answers nothing", () => Promise.resolve(undefined as never)],
  ["answers with something truthy that is no yes", () => Promise.resolve({ approved: "yes" } as never)],
])("an adapter that %s rejects the call", async (_what, onExecution) => {
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution }) })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
    code: "approval_rejected",
  })
})

test("an adapter without the function rejects the call", async () => {
  const system = await openTestApp({}, { approvals: callbackAdapter({}) })
  expect(await system.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "b" } })).toMatchObject({
    code: "approval_rejected",
    rejectReason: "No execution approval callback set",
  })
})

test("nobody answers: the call expires at its deadline, and is not executed", async () => {
  let ran = false
  const system = await openTestApp({ approvals: { deadline: 0.002 } })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => (ran = true) }))
  const result = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(result).toMatchObject({ status: "execution_rejected", code: "approval_expired" })
  expect(ran).toBe(false)
})

test("a waiting call can be answered through any interface, and the first answer wins", async () => {
  const system = await openTestApp({}, { approvals: never })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const call = system.call({ agentId: "operator", tool: "probe", input: {} })
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  const [row] = await system.approvals.list()
  expect([
    await system.approvals.answer(row!.callId, { kind: "approve" }, "ann"),
    await system.approvals.answer(row!.callId, { kind: "reject" }, "bob"),
  ]).toMatchObject([
    { ok: true, done: true, sentence: "Approved." },
    { ok: false, sentence: "ann has answered already: yes." },
  ])
  expect(await call).toMatchObject({ callId: row!.callId, result: "ran" })
  const story = await system.audit.show(row!.callId)
  expect(story.map((entry) => entry.kind)).toEqual(["asked", "answered", "start", "end"])
  expect(story[1]).toMatchObject({ by: "ann", text: "approved" })
})

test("waiting, approved and rejected are announced once each", async () => {
  const system = await openTestApp(
    {},
    { approvals: callbackAdapter({ onExecution: ({ args }) => (args as { n: number }).n === 1 }) },
  )
  const seen: EventType[] = []
  for (const type of ["TOOL_CALL_WAITING", "TOOL_CALL_APPROVED", "TOOL_CALL_REJECTED"] as const)
    system.on(type, () => seen.push(type))
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => 1 }))
  await system.call({ agentId: "operator", tool: "probe", input: { n: 1 } })
  await system.call({ agentId: "operator", tool: "probe", input: { n: 2 } })
  expect(seen).toEqual(["TOOL_CALL_WAITING", "TOOL_CALL_APPROVED", "TOOL_CALL_WAITING", "TOOL_CALL_REJECTED"])
})

test("a caller that cannot wait gets a ticket; the answered ticket is redeemed by its id, once", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => ++runs }))
  const ticket = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 20 }))
  expect(ticket).toMatchObject({ state: "waiting", until: expect.any(Number) })
  expect(expectTicket(await system.resume(ticket.callId, { waitMs: 10 })).callId).toBe(ticket.callId)
  expect(runs).toBe(0)
  await approvePending(system, ticket.callId)
  expect(runs).toBe(0)
  expect(await system.resume(ticket.callId)).toMatchObject({ callId: ticket.callId, result: 1 })
  expect(await system.resume(ticket.callId)).toMatchObject({ callId: ticket.callId, result: 1 })
  expect(runs).toBe(1)
})

test("the same call by the same agent redeems its ticket or joins the waiting one", async () => {
  const system = await openTestApp()
  let runs = 0
  const waiting: string[] = []
  system.on("TOOL_CALL_WAITING", ({ callId }) => waiting.push(callId))
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  const ticket = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 20 }))
  const again = system.call({ agentId: "operator", tool: "probe", input: { n: 1 } })
  const joined = system.call({ agentId: "operator", tool: "probe", input: {} })
  const other = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: { n: 2 } }, { waitMs: 20 }))
  expect(other.callId).not.toBe(ticket.callId)
  await until(() => waiting.filter((callId) => callId === ticket.callId).length === 3, "all three wait for one answer")
  await approvePending(system, ticket.callId)
  expect(await again).toMatchObject({ callId: ticket.callId, success: true })
  expect(await joined).toMatchObject({ callId: ticket.callId, success: true })
  expect(runs).toBe(1)
})

test("an approval that is not redeemed within ten minutes is void", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  const { callId } = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 10 }))
  await approvePending(system, callId)
  const longAgo = Date.now() - 11 * 60_000
  await changeRow(system.dir, callId, ({ answer }) => ({
    answer: JSON.stringify({ ...JSON.parse(answer), at: longAgo }),
  }))
  expect(await system.resume(callId)).toMatchObject({ code: "approval_expired" })
})

test("a waiting call survives a restart and is redeemed by another process", async () => {
  const first = await openTestApp()
  const sensitive = tool({ permission: { level: "sensitive" }, execute: () => "ran" })
  first.registry.register(sensitive)
  const { callId } = expectTicket(await first.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 10 }))
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(sensitive)
  await approvePending(second, callId)
  expect(await second.resume(callId)).toMatchObject({ callId, result: "ran" })
  expect(await second.audit.verify()).toMatchObject({ ok: true })
})

test("closing leaves a waiting call in the approval queue and says how to resume it", async () => {
  const system = await openTestApp({}, { approvals: never })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const call = system.call({ agentId: "operator", tool: "probe", input: {} })
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  await system.close()
  expect(await call).toMatchObject({
    code: "aborted",
    error: expect.stringMatching(/closed while call .* waits/),
    metadata: { waiting: true },
  })
  const again = await openTestApp({ data: { dir: system.dir } })
  expect(await again.approvals.list()).toMatchObject([{ kind: "call", tool: "probe", votes: [] }])
})

test("an approval fits one exact call: a changed definition goes back to the approval queue", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "old" }))
  const { callId } = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 10 }))
  await approvePending(system, callId)
  system.registry.register(
    tool({ description: "Does more now.", permission: { level: "sensitive" }, execute: () => "new" }),
    { replace: true },
  )
  const back = expectTicket(await system.resume(callId, { waitMs: 10 }))
  expect(back).toMatchObject({ callId, state: "waiting" })
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ callId, result: "new" })
})

test.each([
  ["a yes to what was shown before is asked again", { kind: "approve" }, { state: "waiting" }],
  ["a no counts", { kind: "reject", reason: "Never." }, { code: "approval_rejected" }],
] as const)("an answer at the moment a changed call comes back to the queue: %s", async (_what, answer, expected) => {
  const system = await openTestApp()
  const sensitive = { level: "sensitive" } as const
  system.registry.register(tool({ permission: sensitive, execute: () => "old" }))
  const { callId } = await leaveWaiting(system)
  let isAnswered = false
  system.registry.register(
    tool({
      description: "Does more now.",
      permission: sensitive,
      async preview() {
        if (!isAnswered) await system.approvals.answer(callId, answer, "ann")
        isAnswered = true
        return "what it does now"
      },
      execute: () => "new",
    }),
    { replace: true },
  )
  expect(await system.resume(callId, { waitMs: 10 })).toMatchObject({ callId, ...expected })
  if (answer.kind === "reject") return
  await approvePending(system, callId, "bob")
  expect(await system.resume(callId)).toMatchObject({ result: "new" })
})

test("an agent that loses the tool while its call waits does not get to run it", async () => {
  const system = await openTestApp()
  let ran = false
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => (ran = true) }))
  const { callId } = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 10 }))
  await approvePending(system, callId)
  system.registry.register(
    tool({ permission: { level: "sensitive", allowedRoles: ["boss"] }, execute: () => (ran = true) }),
    { replace: true },
  )
  expect(await system.resume(callId)).toMatchObject({ code: "tool_not_available" })
  expect(ran).toBe(false)
})

test.each([
  ["a public tool with result approval", "public", "always", 0, 1],
  ["a moderate tool without", "moderate", "never", 1, 0],
  ["a safe one", "public", "never", 0, 0],
  ["a sensitive one with result approval", "sensitive", "always", 1, 1],
] as const)("the scenario of %s asks as it should", async (_what, level, requireResultApproval, before, after) => {
  const asked = { before: 0, after: 0 }
  const system = await openTestApp(
    {},
    { approvals: callbackAdapter({ onExecution: () => ++asked.before > 0, onResult: () => ++asked.after > 0 }) },
  )
  system.registry.register(tool({ permission: { level, requireResultApproval }, execute: () => 1 }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ success: true })
  expect(asked).toEqual({ before, after })
})

test("the same key, tool and input is one call for a day; other input is a conflict", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ input, execute: () => ({ run: ++runs }) }))
  const request = { agentId: "operator", tool: "probe", key: "k1" }
  const [one, two] = await system.callMany([
    { ...request, input: {} },
    { ...request, input: { n: 1 } },
  ])
  const three = await system.call({ ...request, input: {} })
  expect([one!.result, two!.result, three.result]).toEqual([{ run: 1 }, { run: 1 }, { run: 1 }])
  expect(new Set([one!.callId, two!.callId, three.callId]).size).toBe(1)
  expect(await system.call({ ...request, input: { n: 2 } })).toMatchObject({ code: "key_conflict" })
  expect(await system.call({ ...request, input: {}, sessionId: "another" })).toMatchObject({ result: { run: 2 } })
  expect(runs).toBe(2)
})

/** An app with a tool that asks a person, who takes ten minutes. */
async function openWithSlowPerson() {
  const pass = useFakeClock()
  const onExecution = () => {
    pass(600_000)
    return true
  }
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution }) })
  system.registry.register(tool({ name: "asks", permission: { level: "sensitive" }, execute: () => "yes" }))
  return system
}

test("a parent's clock is paused while its only sub-call waits for a person", async () => {
  const system = await openWithSlowPerson()
  system.registry.register(
    tool({
      name: "parent",
      kind: "composite",
      timeoutMs: 300_000,
      execute: async (_input, context) => (await context.call("asks", {})).result,
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "parent", input: {} })).toMatchObject({ result: "yes" })
})

test("sweeping ends expired calls and never runs a tool", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  const unanswered = expectTicket(
    await system.call({ agentId: "operator", tool: "probe", input: { n: 1 } }, { waitMs: 0 }),
  )
  const approved = expectTicket(
    await system.call({ agentId: "operator", tool: "probe", input: { n: 2 } }, { waitMs: 0 }),
  )
  const rejected = expectTicket(
    await system.call({ agentId: "operator", tool: "probe", input: { n: 3 } }, { waitMs: 0 }),
  )
  await approvePending(system, approved.callId)
  await system.approvals.answer(rejected.callId, { kind: "reject", reason: "No." }, "ann")
  for (const { callId } of [unanswered, approved, rejected]) await expireDeadline(system.dir, callId)
  const other = await openTestApp({ data: { dir: system.dir } }, { sweepMs: 20 })
  await until(async () => (await other.audit.list()).length === 2, "what is over was ended")
  expect(runs).toBe(0)
  expect(await other.resume(unanswered.callId)).toMatchObject({ code: "approval_expired", metadata: { ran: false } })
  expect(await other.resume(rejected.callId)).toMatchObject({ code: "approval_rejected" })
  expect(await system.resume(approved.callId)).toMatchObject({ result: 1 })
})

test("a resumed wait is announced again, and is asked for once in the audit log", async () => {
  const system = await openTestApp()
  const asked: string[] = []
  system.on("TOOL_CALL_WAITING", ({ callId }) => asked.push(callId))
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  const { callId } = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 0 }))
  for (let again = 0; again < 3; again++) await system.resume(callId, { waitMs: 0 })
  expect(asked).toEqual(Array(4).fill(callId))
  expect((await system.audit.show(callId)).map((entry) => entry.kind)).toEqual(["asked"])
})

test("law 3: a preview that changed since the answer goes back to the approval queue", async () => {
  const system = await openTestApp()
  let content = "first"
  system.registry.register(tool({ permission: { level: "sensitive" }, preview: () => content, execute: () => content }))
  const { callId } = expectTicket(await system.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 0 }))
  await approvePending(system, callId)
  content = "second"
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect((await system.approvals.list())[0]).toMatchObject({ preview: "second" })
})

test("a call that is cancelled while it waits for a permit is not executed", async () => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  const gate = deferred()
  const began = deferred()
  system.registry.register(tool({ name: "busy", execute: () => (began.resolve(), gate.promise) }))
  const busy = system.call({ agentId: "operator", tool: "busy", input: {} })
  await began.promise
  const controller = new AbortController()
  const queued = system.call({ agentId: "operator", tool: "current_time", input: {}, signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  const result = await queued
  expect(result).toMatchObject({ code: "aborted", metadata: { ran: false } })
  expect(modelText(result)).toMatch(/^NOT EXECUTED/)
  gate.resolve()
  await busy
})

test("a keyed result that could not be recorded is not returned for the same key", async () => {
  const { openStore } = await import("../../store/sqlite/store.ts")
  const { ListRecorder, portsOver } = await import("../../testing/ports.ts")
  const { callTool } = await import("../call.ts")
  const store = await openStore({ dataDir: await dataFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  const recorder = new ListRecorder()
  const ports = await portsOver(store, { recorder })
  ports.tools.register(tool({ execute: () => "secret result" }))
  const request = { agentId: "operator", tool: "probe", input: {}, key: "k" }
  recorder.fails = (attempt) => attempt === 2
  expect(await callTool(request, ports)).toMatchObject({ code: "record_unavailable" })
  const again = await callTool(request, ports)
  expect(again).toMatchObject({ code: "record_unavailable" })
  expect(JSON.stringify(again)).not.toContain("secret result")
  await store.close()
})

test("a grandparent's clock is paused too while the only call below waits for a person", async () => {
  const system = await openWithSlowPerson()
  system.registry.register(
    tool({ name: "middle", kind: "composite", execute: async (_input, { call }) => (await call("asks", {})).result }),
  )
  system.registry.register(
    tool({
      name: "top",
      kind: "composite",
      timeoutMs: 300_000,
      execute: async (_input, { call }) => (await call("middle", {})).result,
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "top", input: {} })).toMatchObject({ result: "yes" })
})

test("a preview with characters that a store cannot hold is approved once", async () => {
  let asked = 0
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution: () => ++asked > 0 }) })
  system.registry.register(tool({ permission: { level: "sensitive" }, preview: () => "a\0b\ud800c", execute: () => 1 }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ success: true })
  expect(asked).toBe(1)
})

test("what a person approved is what runs, even if the caller changes its object", async () => {
  const given = { deep: { word: "good" } }
  const system = await openTestApp(
    {},
    { approvals: callbackAdapter({ onExecution: () => ((given.deep.word = "evil"), true) }) },
  )
  system.on("TOOL_CALL_REQUESTED", ({ params }) => ((params as typeof given).deep.word = "evil"))
  system.registry.register(
    tool({
      input: z.object({ deep: z.any() }) as never,
      permission: { level: "sensitive" },
      execute: ({ deep }: typeof given) => deep.word,
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "probe", input: given })).toMatchObject({ result: "good" })
})

test("a ticket of a tool whose schema transforms its input is redeemed", async () => {
  const system = await openTestApp()
  const schema = z.object({ n: z.string().transform(Number) }) as never
  system.registry.register(
    tool({ input: schema, permission: { level: "sensitive" }, execute: ({ n }: { n: number }) => n + 1 }),
  )
  const { callId } = expectTicket(
    await system.call({ agentId: "operator", tool: "probe", input: { n: "41" } }, { waitMs: 0 }),
  )
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ result: 42 })
})

test("the same call in another session, or for another task, is another call", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({ permission: { level: "sensitive" }, execute: (_input, { sessionId }: ToolContext) => sessionId }),
  )
  const request = { agentId: "operator", tool: "probe", input: {} }
  const tickets = []
  for (const more of [{ sessionId: "one" }, { sessionId: "two" }, { taskId: "t" }, { userId: "u" }]) {
    tickets.push(expectTicket(await system.call({ ...request, ...more }, { waitMs: 0 })).callId)
  }
  expect(new Set(tickets).size).toBe(4)
  await approvePending(system, tickets[1]!)
  expect(await system.resume(tickets[1]!)).toMatchObject({ result: "two" })
})

test("a key holds across midnight", async () => {
  const store = await (
    await import("../../store/sqlite/store.ts")
  ).openStore({ dataDir: await dataFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  let now = Date.UTC(2026, 0, 1, 23, 59, 59)
  const { ListRecorder, portsOver } = await import("../../testing/ports.ts")
  const ports = await portsOver(store, { recorder: new ListRecorder(), now: () => now })
  const { callTool } = await import("../call.ts")
  let runs = 0
  ports.tools.register(tool({ execute: () => ++runs }))
  const request = { agentId: "operator", tool: "probe", input: {}, key: "pay-1" }
  const first = await callTool(request, ports)
  now += 5000
  expect(await callTool(request, ports)).toMatchObject({ callId: first.callId, result: 1 })
  expect(runs).toBe(1)
  await store.close()
})

test("after closing nothing starts, and closing does not wait for tools that do not stop", async () => {
  const system = await openTestApp()
  let started = 0
  system.registry.register(tool({ execute: () => (started++, new Promise(() => {})) }))
  const calls = Array.from({ length: 9 }, () => system.call({ agentId: "operator", tool: "probe", input: {} }))
  await until(() => started === 3, "three run")
  await system.close()
  expect((await Promise.all(calls)).every((result) => result.code === "aborted")).toBe(true)
  expect(started).toBe(3)
})
