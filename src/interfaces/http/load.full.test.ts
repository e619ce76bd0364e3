import { expect, test } from "vitest"
import { createClient, isTicket } from "../client/client.ts"
import { times } from "../../testing/times.ts"
import { tool } from "../../testing/test-app.ts"
import { serveAppForTest } from "./testing.ts"

/*
 * Many clients at once: a third of the calls wait for a person, whom a script plays, while event streams are open. Nothing
 * is lost: every call ends as it should, every ending is in the audit log and on every stream. A tenth of it in the full
 * tests, all of it in the soak.
 */

const clients = times(20, 200)
const calls = times(2100, 20_000)
const streams = times(3, 20)

test("no call and no event is lost under load", async () => {
  const agents = Array.from({ length: clients }, (_, index) => ({ id: `agent-${index}`, role: "worker" }))
  const config = {
    org: { people: [{ id: "pat" }], roles: [{ name: "worker", toolGroups: ["test"] }], agents },
    tools: { maxConcurrent: 64 },
  }
  const { app, served, token } = await serveAppForTest(config as never)
  const plenty = { rateLimit: { maxCallsPerMinute: 10_000_000, maxCallsPerHour: 10_000_000 } }
  const runs = new Map<string, number>()
  const count = ({ n }: { n: string }) => {
    runs.set(n, (runs.get(n) ?? 0) + 1)
    return n
  }
  const input = { type: "object", properties: { n: { type: "string" } }, required: ["n"] }
  app.registry.registerMany([
    tool({ name: "look", effect: "read", permission: plenty, input, execute: count as never }),
    tool({ name: "send", effect: "communicate", permission: plenty, input, execute: count as never }),
  ])
  const baseUrl = served.url
  const { token: pats } = await app.org.createPerson({ id: "sue" }, { kind: "person", id: "pat" })
  const sue = createClient({ baseUrl, token: pats })
  const stop = new AbortController()

  const seen = Array.from({ length: streams }, () => new Set<string>())
  let resyncs = 0
  let told: () => void = () => {}
  let firstCursor = ""
  const follow = async (ended: Set<string>, cursor?: string) => {
    for await (const event of sue.events({ signal: stop.signal, cursor })) {
      firstCursor ||= event.cursor
      if (event.type === "audit") ended.add(event.callId)
      if (event.type === "resync") {
        resyncs++
        await readAgain(ended)
      }
      if (ended.size === calls) told()
    }
  }
  const following = seen.map((ended) => follow(ended))
  /** A stream that fell behind is told so, and reads what is stored, as the console does. */
  const readAgain = async (ended: Set<string>) => {
    let cursor: string | undefined
    do {
      const page = await sue.audit.list({ limit: 500, ...(cursor === undefined ? {} : { cursor }) })
      for (const { callId } of page.items) ended.add(callId)
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  const answering = (async () => {
    while (!stop.signal.aborted) {
      const { items } = await sue.approvals.list()
      await Promise.all(items.map((card) => sue.approvals.answer(card, { kind: "approve" }).catch(() => {})))
      if (items.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()

  const took: number[] = []
  const ids: string[] = []
  let next = 0
  const lane = async (index: number) => {
    const client = createClient({ baseUrl, token: await token(`agent-${index}`) })
    for (let n = next++; n < calls; n = next++) {
      const waits = n % 3 === 0
      const begun = performance.now()
      const ended = await client.call(waits ? "send" : "look", { n: String(n) }, { sessionId: `s${n}` })
      expect(isTicket(ended)).toBe(false)
      expect(ended).toMatchObject({ status: "success", result: String(n) })
      if (!waits) took.push(performance.now() - begun)
      ids.push(ended.callId)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => lane(index)))
  expect(new Set(ids).size).toBe(calls)
  expect([...runs.values()].every((each) => each === 1)).toBe(true)
  expect(runs.size).toBe(calls)

  await app.settle()
  const { total } = await app.audit.stats()
  expect(total).toBe(calls)
  // One that comes back after all of it, which is more than a stream tells again.
  const late = new Set<string>()
  seen.push(late)
  following.push(follow(late, firstCursor))
  // Waits for events, not for time: the runner ends a test in which one is lost.
  const isTold = () => seen.every((ended) => ended.size === calls)
  while (!isTold()) await new Promise<void>((resolve) => (told = resolve))
  for (const ended of seen) expect(ids.filter((id) => !ended.has(id))).toEqual([])
  stop.abort()
  await Promise.all([...following, answering])
  took.sort((one, other) => one - other)
  const p99 = took[Math.floor(took.length * 0.99)]!
  console.log(
    `${calls} calls of ${clients} clients, ${streams} streams, ${resyncs} resyncs: p99 ${p99.toFixed(0)} ms where nobody is asked`,
  )
})
