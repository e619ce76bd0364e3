import { expect, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { approvePending, leaveWaiting, oneNumber, expectTicket } from "../testing.ts"

const probing = { agentId: "operator", tool: "probe", input: {} }

/** A tool that notes the value of context.approved for each run. */
function watched(level: "public" | "moderate" | "sensitive", more: object = {}) {
  const approvals: boolean[] = []
  const execute = (_: unknown, { approved }: ToolContext) => approvals.push(approved)
  return { approvals, probe: tool({ permission: { level }, input: oneNumber, execute, ...more }) }
}

test("context.approved is false for a call that runs without asking: by level, key or allow rule", async () => {
  const rules = [{ allow: "probe", args: { "/n": "2" }, because: "Two is fine." }]
  const system = await openTestApp({ rules })
  const free = watched("public")
  system.registry.register(free.probe)
  await system.call(probing)
  await system.call({ ...probing, key: "k" })
  expect(free.approvals).toEqual([false, false])
  const listed = watched("sensitive")
  system.registry.register(listed.probe, { replace: true })
  expect(await system.call({ ...probing, input: { n: 2 } })).toMatchObject({ success: true })
  expect(listed.approvals).toEqual([false])
})

test("context.approved is true for an approved call, and false for one that a grant allows", async () => {
  const system = await openTestApp()
  const { approvals, probe } = watched("moderate")
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system)
  await system.approvals.answer(callId, { kind: "approve", remember: "tool-always" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ success: true })
  expect(await system.call(probing)).toMatchObject({ success: true })
  expect(approvals).toEqual([true, false])
})

test("an edit is no approval; approving the edited call is", async () => {
  const system = await openTestApp()
  const { approvals, probe } = watched("sensitive")
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system)
  await system.approvals.answer(callId, { kind: "edit", input: { n: 3 } }, "ann")
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).callId).toBe(callId)
  expect(approvals).toEqual([])
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ success: true })
  expect(approvals).toEqual([true])
})

test("context.approved is true when another process took the approval", async () => {
  const workspace = temporaryFolder()
  const first = await openTestApp({}, { workspace })
  first.registry.register(watched("sensitive").probe)
  const { callId } = await leaveWaiting(first)
  await approvePending(first, callId)
  const { dir } = first
  await first.close()
  const second = await openTestApp({ data: { dir } }, { workspace })
  const { approvals, probe } = watched("sensitive")
  second.registry.register(probe)
  expect(await second.resume(callId)).toMatchObject({ success: true })
  expect(approvals).toEqual([true])
})

test("context.approved is true for each try of an approved call, and false for its sub-calls", async () => {
  const rules = [{ allow: "inner", because: "It may." }]
  const system = await openTestApp({ rules })
  const inner = watched("sensitive", { name: "inner" })
  let tries = 0
  const outer = watched("sensitive", {
    idempotent: true,
    kind: "composite",
    async execute(_: unknown, { approved, call }: ToolContext) {
      outer.approvals.push(approved)
      await call("inner", {})
      if (++tries === 1) throw Object.assign(new Error("Again."), { code: "ECONNRESET" })
    },
  })
  system.registry.register(inner.probe)
  system.registry.register(outer.probe)
  const { callId } = await leaveWaiting(system)
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ success: true })
  expect(outer.approvals).toEqual([true, true])
  expect(inner.approvals).toEqual([false, false])
})
