import { expect, test } from "vitest"
import { isTicket } from "../core/result.ts"
import { openTestApp, tool } from "../testing/test-app.ts"

const guarded = { permission: { level: "sensitive" } } as const
const call = { agentId: "operator", tool: "probe", input: {} }

test("a call with anySession joins the same waiting call of another session; a call without it does not", async () => {
  const app = await openTestApp()
  app.registry.register(tool({ ...guarded, execute: () => "ran" }))
  const submit = (sessionId: string, anySession: boolean) => app.call({ ...call, sessionId, anySession }, { waitMs: 0 })
  const first = await submit("one", true)
  const joined = await submit("two", true)
  const apart = await submit("two", false)
  expect(joined.callId).toBe(first.callId)
  expect(apart.callId).not.toBe(first.callId)
  await app.approvals.answer(first.callId, { kind: "approve" }, "ann")
  expect(await submit("three", true)).toMatchObject({ success: true, result: "ran" })
})

test("onOutput gets every chunk, of sub-calls too, and nothing that may be held back", async () => {
  const app = await openTestApp()
  const streams = async function* () {
    yield "a"
    yield { progress: 1 }
  }
  app.registry.registerMany([
    tool({ execute: streams }),
    tool({
      name: "outer",
      kind: "composite",
      execute: async (_input, context) => (await context.call("probe", {})).result,
    }),
    tool({
      name: "held",
      kind: "composite",
      permission: { level: "public", requireResultApproval: "on-error" },
      execute: async (_input, context) => (await context.call("probe", {})).result,
    }),
  ])
  const outputOf = async (name: string) => {
    const chunks: unknown[] = []
    await app.call({ ...call, tool: name, caller: { onOutput: (chunk) => chunks.push(chunk) } })
    return chunks
  }
  expect(await outputOf("probe")).toEqual(["a", { progress: 1 }])
  expect(await outputOf("outer")).toEqual(["a", { progress: 1 }])
  expect(await outputOf("held")).toEqual([])
})

test("onWaiting is called for the call, its sub-calls, the call it joined and a held result", async () => {
  const app = await openTestApp()
  app.registry.registerMany([
    tool({ ...guarded, execute: () => "ran" }),
    tool({ name: "outer", kind: "composite", execute: (_input, context) => context.call("probe", {}) }),
    tool({ name: "held", permission: { level: "public", requireResultApproval: "always" }, execute: () => "ran" }),
  ])
  const waits = (name: string, waitMs = 0) => {
    const announced: string[] = []
    const caller = { onWaiting: ({ tool: what }: { tool: string }) => void announced.push(what) }
    return app.call({ ...call, tool: name, caller }, { waitMs }).then(() => announced)
  }
  expect(await waits("probe")).toEqual(["probe"])
  expect(await waits("probe")).toEqual(["probe"])
  expect(await waits("held")).toEqual(["held"])
  const announced: string[] = []
  const stop = new AbortController()
  const outer = app.call({
    ...call,
    tool: "outer",
    signal: stop.signal,
    caller: { onWaiting: ({ tool: what }) => (announced.push(what), stop.abort()) },
  })
  await outer
  expect(announced).toEqual(["probe"])
})

test("the caller that resumes a stored call can be asked, and can cancel it", async () => {
  const app = await openTestApp()
  app.registry.register(
    tool({ permission: { level: "public", requireResultApproval: "always" }, execute: () => "ran" }),
  )
  const held = await app.call(call, { waitMs: 0 })
  expect(isTicket(held)).toBe(true)
  const approvals = { showToolResultApproval: async () => ({ approved: true, by: "ann" }) }
  expect(await app.resume(held.callId, { caller: { approvalUI: approvals } })).toMatchObject({ result: "ran" })
  const again = await app.call(call, { waitMs: 0 })
  const stop = new AbortController()
  const going = app.resume(again.callId, { signal: stop.signal })
  stop.abort()
  expect(await going).toMatchObject({ code: "aborted" })
})
