import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { expectTicket } from "../testing.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { StartOrder } from "./start-order.ts"

/** Waits so many turns of the event loop, and then until the clock of the store shows another time. */
const wait = async (turns: number) => {
  await turnsOf(turns)
  const now = Date.now()
  if (turns > 0) await until(() => Date.now() > now, "the clock goes on")
}
const turnsOf = (turns: number) => Array.from({ length: turns }).reduce<Promise<void>>((before) => before.then(() => new Promise(setImmediate)), Promise.resolve()) // prettier-ignore

/** Tools `read` and `write` that note when they start; deciding on a call takes as many turns of the event loop as it says. */
async function openSlow() {
  const system = await openTestApp({ rules: [{ allow: "free", because: "The test." }] })
  const started: number[] = []
  const input = z.object({ n: z.number(), turns: z.number() }) as never
  const common = {
    input,
    // The deciding takes a different time for each call.
    secretFields: ({ turns }: { turns: number }) => wait(turns).then(() => []),
    execute: ({ n }: { n: number }) => (started.push(n), n),
  }
  for (const [name, effect] of [
    ["look", "read"],
    ["free", "write"],
    ["ask", "write"],
  ] as const)
    // prettier-ignore
    system.registry.register(tool({ ...common, name, effect } as never))
  const request = (name: string, n: number, turns: number) => ({ agentId: "operator", tool: name, input: { n, turns } })
  return { system, started, request }
}

const asked = async (system: Awaited<ReturnType<typeof openSlow>>["system"]) =>
  (await system.approvals.list()).map(({ input }) => (input as { n: number }).n)

test("the questions of callMany stand in the queue in the order of the calls, however long each takes to decide", async () => {
  const { system, request } = await openSlow()
  const all = system.callMany([5, 0, 9, 2, 0].map((turns, n) => request("ask", n, turns)))
  await until(async () => (await system.approvals.list()).length === 5, "all of them are asked")
  expect(await asked(system)).toEqual([0, 1, 2, 3, 4])
  for (const { callId } of await system.approvals.list())
    await system.approvals.answer(callId, { kind: "reject" }, "ann")
  await all
})

test("calls that need nobody start in the order of the calls, and one that waits for a person holds nobody back", async () => {
  const { system, started, request } = await openSlow()
  const names = ["free", "look", "ask", "free", "look", "look"]
  const all = system.callMany(names.map((name, n) => request(name, n, [7, 0, 3, 0, 2, 0][n]!)))
  await until(() => started.length === 5, "those that need nobody have started")
  expect(started).toEqual([0, 1, 3, 4, 5])
  const [waiting] = await system.approvals.list()
  await system.approvals.answer(waiting!.callId, { kind: "approve" }, "ann")
  expect((await all).map(({ result }) => result)).toEqual([0, 1, 2, 3, 4, 5])
})

test("calls of a batch that were held back for its questions start in the order of the calls, whoever was answered last", async () => {
  const { system, started, request } = await openSlow()
  const names = ["ask", "free", "look", "ask", "free", "ask"]
  const all = system.callMany(
    names.map((name, n) => request(name, n, [4, 0, 6, 1, 0, 0][n]!)),
    { oneAnswer: true },
  )
  await until(async () => (await system.approvals.list()).length === 3, "all of them are asked")
  expect(await asked(system)).toEqual([0, 3, 5])
  await until(() => started.length === 1, "what only reads has started")
  for (const { callId } of (await system.approvals.list()).toReversed())
    await system.approvals.answer(callId, { kind: "approve" }, "ann")
  await all
  expect(started).toEqual([2, 0, 1, 3, 4, 5])
})

test("calls that only read run beside each other", async () => {
  const system = await openTestApp()
  let running = 0
  let most = 0
  const execute = async () => {
    most = Math.max(most, ++running)
    await until(() => most === 2, "two of them run")
    running--
    return null
  }
  system.registry.register(tool({ name: "look", effect: "read", input: z.object({ n: z.number() }) as never, execute }))
  const calls = [0, 1].map((n) => ({ agentId: "operator", tool: "look", input: { n } }))
  expect(await system.callMany(calls)).toMatchObject([{ success: true }, { success: true }])
  expect(most).toBe(2)
})

test("a call that fails, is denied or is unknown holds nobody back", async () => {
  const { system, started, request } = await openSlow()
  const calls = [request("unknown", 0, 0), { ...request("free", 1, 0), input: {} }, request("free", 2, 0)]
  expect((await system.callMany(calls)).map(({ success }) => success)).toEqual([false, false, true])
  expect(started).toEqual([2])
})

test("a ticket of a batch is given without waiting for the questions of other calls", async () => {
  const { system, request } = await openSlow()
  const ended = await system.callMany([request("ask", 0, 3), request("ask", 1, 0)], { waitMs: 0, oneAnswer: true })
  expect(ended.map((each) => expectTicket(each).state)).toEqual(["waiting", "waiting"])
})

test("whatever leaves and comes back, everyone gets a turn, and never before somebody who is in the line before them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 }), async (turns) => {
      const order = new StartOrder()
      const done: number[] = []
      const places = turns.map(() => order.place())
      await Promise.all(
        places.map(async ({ starting, leave }, index) => {
          await wait(turns[index]!)
          await starting.turn()
          done.push(index)
          leave()
        }),
      )
      expect(done).toEqual(turns.map((_, index) => index))
    }),
    { numRuns: 100 },
  )
})
