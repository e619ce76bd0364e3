import { expect, test } from "vitest"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import type { ApprovalUIAdapter, ExecutionDecision } from "../../core/approval.ts"
import { callbackAdapter } from "../ask/callback.ts"

const approving = callbackAdapter({ onExecution: () => true })

/** An app with a tool that asks. */
async function openApp(options = {}) {
  const app = await openTestApp({}, options)
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const call = (signal?: AbortSignal) => app.call({ agentId: "operator", tool: "probe", input: {}, signal })
  const answeredBy = async (callId: string) =>
    (await app.audit.show(callId)).flatMap((entry) => (entry.kind === "answered" ? entry.by : []))
  return { app, call, answeredBy }
}

test.each([
  ["the decision", { approved: true, by: "bea" }, "ann", "bea"],
  ["who attached it", { approved: true }, "ann", "ann"],
  ["a function of who attached it", { approved: true }, () => Promise.resolve("cleo"), "cleo"],
  ["the adapter", { approved: true }, undefined, "terminal"],
])("an answer is by whom %s names", async (_, decision: ExecutionDecision, person, by) => {
  const { app, call, answeredBy } = await openApp()
  app.approvals.attach({ by: "terminal", showToolExecutionApproval: async () => decision }, person)
  const { callId, result } = await call()
  expect([result, await answeredBy(callId)]).toEqual(["ran", [by]])
})

test("an answer whose person cannot be named does not count as a yes", async () => {
  const { app, call } = await openApp()
  app.approvals.attach(approving, () => Promise.reject(new Error("Who are you?")))
  expect(await call()).toMatchObject({
    code: "approval_rejected",
    rejectReason: expect.stringContaining("Who are you?"),
  })
})

test("the person attached last is asked, for what their adapter can ask; once they are detached, the one before", async () => {
  const { app, call, answeredBy } = await openApp({ approvals: approving })
  app.approvals.attach({ showQuestion: async () => ({ answer: "blue" }) }, "ann")
  const detach = app.approvals.attach(approving, "bea")
  expect(await answeredBy((await call()).callId)).toEqual(["bea"])
  detach()
  expect(await answeredBy((await call()).callId)).toEqual(["adapter"])
})

test("detaching closes the open dialog, and what it asked about goes on waiting in the queue", async () => {
  const { app, call } = await openApp()
  let asked: AbortSignal | undefined
  const open: Partial<ApprovalUIAdapter> = {
    showToolExecutionApproval: (_name, _description, _input, _level, { signal }) =>
      new Promise((_resolve, reject) => {
        asked = signal
        signal.addEventListener("abort", () => reject(new Error("It was closed.")))
      }),
  }
  const detach = app.approvals.attach(open, "ann")
  const calling = call()
  await until(() => asked !== undefined, "ann is asked")
  detach()
  expect(asked?.aborted).toBe(true)
  const [item] = await app.approvals.list()
  expect(await app.approvals.answer(item!.callId, { kind: "approve" }, "bea")).toMatchObject({ ok: true, done: true })
  expect(await calling).toMatchObject({ result: "ran" })
})

test("a person who answers in the queue is somebody to ask: nothing is rejected, and the host is not told", async () => {
  const told: string[] = []
  const app = await openTestApp(
    { approvals: { unattended: "reject" } },
    { onWaiting: ({ callId }) => told.push(callId) },
  )
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const detach = app.approvals.attach("queue", "ann")
  const calling = app.call({ agentId: "operator", tool: "probe", input: {} })
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect([(await calling).result, told]).toEqual(["ran", []])
  detach()
  expect(await app.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ code: "approval_rejected" })
})
