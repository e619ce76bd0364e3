import { expect, test } from "vitest"
import { isTicket } from "../model/result.ts"
import { open, tool } from "../testing/open.ts"

const guarded = { permission: { level: "sensitive" } } as const
const call = { agentId: "operator", tool: "probe", input: {} }

test("a call that says so joins the same call of another session while it waits, and no other does", async () => {
  const house = await open()
  house.registry.register(tool({ ...guarded, execute: () => "ran" }))
  const submit = (sessionId: string, anySession: boolean) =>
    house.submit({ ...call, sessionId, anySession }, { waitMs: 0 })
  const first = await submit("one", true)
  const joined = await submit("two", true)
  const apart = await submit("two", false)
  expect(joined.callId).toBe(first.callId)
  expect(apart.callId).not.toBe(first.callId)
  await house.desk.say(first.callId, { say: "approve" }, "ann")
  expect(await submit("three", true)).toMatchObject({ success: true, result: "ran" })
})

test("the caller is told what is put out as it is, of sub-calls too, and nothing that may be held back", async () => {
  const house = await open()
  const streams = async function* () {
    yield "a"
    yield { progress: 1 }
  }
  house.registry.registerMany([
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
  const heard = async (name: string) => {
    const chunks: unknown[] = []
    await house.call({ ...call, tool: name, caller: { onOutput: (chunk) => chunks.push(chunk) } })
    return chunks
  }
  expect(await heard("probe")).toEqual(["a", { progress: 1 }])
  expect(await heard("outer")).toEqual(["a", { progress: 1 }])
  expect(await heard("held")).toEqual([])
})

test("the caller is told what waits: the call, what it made, what it joined, what is held", async () => {
  const house = await open()
  house.registry.registerMany([
    tool({ ...guarded, execute: () => "ran" }),
    tool({ name: "outer", kind: "composite", execute: (_input, context) => context.call("probe", {}) }),
    tool({ name: "held", permission: { level: "public", requireResultApproval: "always" }, execute: () => "ran" }),
  ])
  const waits = (name: string, waitMs = 0) => {
    const told: string[] = []
    const caller = { onWaiting: ({ tool: what }: { tool: string }) => void told.push(what) }
    return house.submit({ ...call, tool: name, caller }, { waitMs }).then(() => told)
  }
  expect(await waits("probe")).toEqual(["probe"])
  expect(await waits("probe")).toEqual(["probe"])
  expect(await waits("held")).toEqual(["held"])
  const told: string[] = []
  const stop = new AbortController()
  const outer = house.call({
    ...call,
    tool: "outer",
    signal: stop.signal,
    caller: { onWaiting: ({ tool: what }) => (told.push(what), stop.abort()) },
  })
  await outer
  expect(told).toEqual(["probe"])
})

test("whoever goes on with a stored call can be asked, and can give it up", async () => {
  const house = await open()
  house.registry.register(
    tool({ permission: { level: "public", requireResultApproval: "always" }, execute: () => "ran" }),
  )
  const held = await house.submit(call, { waitMs: 0 })
  expect(isTicket(held)).toBe(true)
  const approvals = { showToolResultApproval: async () => ({ approved: true, by: "ann" }) }
  expect(await house.resume(held.callId, { caller: { approvals } })).toMatchObject({ result: "ran" })
  const again = await house.submit(call, { waitMs: 0 })
  const stop = new AbortController()
  const going = house.resume(again.callId, { signal: stop.signal })
  stop.abort()
  expect(await going).toMatchObject({ code: "aborted" })
})
