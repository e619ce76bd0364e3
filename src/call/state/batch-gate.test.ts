import { expect, test } from "vitest"
import { isTicket } from "../../core/result.ts"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"

/** An app with a tool that reads, one that writes unasked, and one that asks; and the order in which they ran. */
async function openBatchApp() {
  const app = await openTestApp({ rules: [{ allow: "write", because: "the test" }] })
  const ran: string[] = []
  const named = (name: string, effect: "read" | "write", more = {}) =>
    tool({ name, effect, execute: () => void ran.push(name), ...more })
  app.registry.registerMany([
    named("look", "read"),
    named("write", "write"),
    named("send", "write"),
    named("after", "write", { dependsOn: ["write"] }),
  ])
  const call = (name: string) => ({ agentId: "operator", tool: name, input: {} })
  const waiting = async () => {
    await until(async () => (await app.approvals.list()).length > 0, "a call waits")
    return (await app.approvals.list())[0]!
  }
  return { app, ran, call, waiting }
}

test("a call with effects waits until the question of its batch is answered; a read goes on", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("write"), call("send"), call("look")], { oneAnswer: true })
  const { callId } = await waiting()
  await until(() => ran.includes("look"), "the read ran")
  expect(ran).toEqual(["look"])
  await app.approvals.answer(callId, { kind: "approve" }, "ann")
  expect((await batch).map((ended) => !isTicket(ended) && ended.success)).toEqual([true, true, true])
  expect(ran.toSorted()).toEqual(["look", "send", "write"])
})

test("a no ends its own call only", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("write"), call("send")], { oneAnswer: true })
  await app.approvals.answer((await waiting()).callId, { kind: "reject" }, "ann")
  const codes = (await batch).map((ended) => !isTicket(ended) && ended.code)
  expect(codes).toEqual([undefined, "approval_rejected"])
  expect(ran).toEqual(["write"])
})

test("calls that are not one answer do not wait for each other", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("write"), call("send")])
  await until(() => ran.includes("write"), "the write ran")
  await app.approvals.answer((await waiting()).callId, { kind: "approve" }, "ann")
  await batch
  expect(ran).toEqual(["write", "send"])
})

test("a clock is told which calls of a batch are in progress and which wait for people, also for others' questions", async () => {
  const { app, call, waiting } = await openBatchApp()
  const counted = { begun: 0, waiting: 0 }
  const clock = {
    countChild: (change: number) => void (counted.begun += change),
    countWaiting: (change: number) => void (counted.waiting += change),
  }
  const batch = app.callMany([call("write"), call("send"), call("look")], { oneAnswer: true, clock })
  await until(() => counted.begun === 2 && counted.waiting === 2, "the read has ended and the others wait")
  await app.approvals.answer((await waiting()).callId, { kind: "approve" }, "ann")
  await batch
  expect(counted).toEqual({ begun: 0, waiting: 0 })
})

test("a denied call and one of an unknown tool hold nobody up", async () => {
  const { app, ran, call } = await openBatchApp()
  const ended = await app.callMany([call("write"), call("nothing"), { ...call("send"), agentId: "nobody" }], {
    oneAnswer: true,
  })
  expect(ended.map((each) => !isTicket(each) && each.success)).toEqual([true, false, false])
  expect(ran).toEqual(["write"])
})

test("a call that depends on another of its batch does not hold that one up", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("after"), call("write")], { oneAnswer: true })
  await until(() => ran.includes("write"), "the write ran")
  await app.approvals.answer((await waiting()).callId, { kind: "approve" }, "ann")
  await batch
  expect(ran).toEqual(["write", "after"])
})

test("a caller that does not wait for people still waits until all its calls are decided on", async () => {
  const app = await openTestApp({ rules: [{ allow: "*", because: "the test" }], workspace: temporaryFolder() })
  // The first command takes a while to be judged, the files do not.
  const calls = [
    { tool: "write_file", input: { path: "a.txt", content: "a" } },
    { tool: "write_file", input: { path: "../b.txt", content: "b" } },
    { tool: "run_command", input: { command: "true" } },
  ]
  const requests = calls.map((each, place) => ({ ...each, agentId: "operator", key: String(place), sessionId: "s" }))
  const ended = await app.callMany(requests, { waitMs: 0, oneAnswer: true })
  expect(ended.map((each) => !isTicket(each) && each.success)).toEqual([true, false, true])
})

test.each([
  ["with keys", {}],
  ["of a conversation", { resumableUntil: Date.now() + 60_000 }],
])("when the caller stops waiting, calls %s become tickets; made again, they go on", async (_, more) => {
  const { app, ran, call } = await openBatchApp()
  const keyed = (name: string) => ({ ...call(name), key: name, sessionId: "s", ...more })
  const requests = [keyed("write"), keyed("send")]
  const ended = await app.callMany(requests, { waitMs: 50, oneAnswer: true })
  expect(ended.map(isTicket)).toEqual([true, true])
  expect(ran).toEqual([])
  const again = app.callMany(requests, { oneAnswer: true })
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "ann")
  expect((await again).map((each) => !isTicket(each) && each.success)).toEqual([true, true])
  expect(ran.toSorted()).toEqual(["send", "write"])
})

test("an abort ends what waits for the batch", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const stop = new AbortController()
  const batch = app.callMany(
    [call("write"), call("send")].map((each) => ({ ...each, signal: stop.signal })),
    {
      oneAnswer: true,
    },
  )
  await waiting()
  stop.abort()
  expect((await batch).map((ended) => !isTicket(ended) && ended.code)).toEqual(["aborted", "aborted"])
  expect(ran).toEqual([])
})

test("a call that a rule denies while it waits for its batch does not run", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("write"), call("send")], { oneAnswer: true })
  const { callId } = await waiting()
  await app.rules.add({ deny: "write", because: "changed my mind" }, "ann")
  await app.approvals.answer(callId, { kind: "approve" }, "ann")
  expect((await batch).map((ended) => !isTicket(ended) && ended.success)).toEqual([false, true])
  expect(ran).toEqual(["send"])
})

test("a held result holds no other call up", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const shown = deferred()
  app.registry.register(
    tool({ name: "secret", permission: { requireResultApproval: "always" }, execute: () => shown.resolve() }),
  )
  const batch = app.callMany([call("secret"), call("write")], { oneAnswer: true })
  await shown.promise
  await until(() => ran.includes("write"), "the write ran while the result is held")
  const { callId } = await waiting()
  await app.approvals.answer(callId, { kind: "release" }, "ann")
  await batch
})

test("two equal calls of one batch are one question, and end when it is answered", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const batch = app.callMany([call("send"), call("send"), call("write")], { oneAnswer: true })
  const { callId } = await waiting()
  await app.approvals.answer(callId, { kind: "approve" }, "ann")
  expect((await batch).map((ended) => !isTicket(ended) && ended.success)).toEqual([true, true, true])
  expect(ran.toSorted()).toEqual(["send", "write"])
})

test("while an edited call is asked again, a call with effects of its batch waits", async () => {
  const { app, ran, call, waiting } = await openBatchApp()
  const first = app.callMany([call("send")], { oneAnswer: true })
  const { callId } = await waiting()
  const batch = app.callMany([call("send"), call("write")], { oneAnswer: true })
  await app.approvals.answer(callId, { kind: "edit", input: {} }, "ann")
  await until(async () => (await app.approvals.show(callId))?.revision === 2, "it is asked again")
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(ran).toEqual([])
  await app.approvals.answer(callId, { kind: "approve" }, "ann")
  await Promise.all([first, batch])
  expect(ran.toSorted()).toEqual(["send", "write"])
})

test("a call that is cancelled before it begins gives its place to the next at once", async () => {
  const { app, ran, call } = await openBatchApp()
  const made = Array.from({ length: 60 }, async () => {
    const stop = new AbortController()
    const ended = app.call({ ...call("write"), signal: stop.signal })
    stop.abort()
    return ended
  })
  for (const { success, code } of await Promise.all(made)) expect([success, code]).toEqual([false, "aborted"])
  expect(ran).toEqual([])
  expect(await app.call(call("write"))).toMatchObject({ success: true })
})
