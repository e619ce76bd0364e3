import fc from "fast-check"
import { expect, test } from "vitest"
import { newId } from "../../lib/new-id.ts"
import type { Limits } from "../port.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { RateLimit } from "../../core/permission.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { openDatabase } from "./database.ts"
import { migrate } from "./kysely.ts"
import { StoreLimits } from "./limits.ts"

const minute = 60_000
const hour = 60 * minute
const noon = Date.UTC(2026, 0, 1, 12)

const agent = (id: string, ...ancestors: AgentView[]) => ({ agent: { id }, ancestors }) as unknown as AgentView
const limited = (rateLimit: RateLimit, name = "probe") => ({ name, permission: { rateLimit } }) as RegisteredTool

const shared = openDatabase(":memory:").then(async (database) => {
  await migrate(database)
  return database
})

/** New limits without any calls: each has its own agents. */
function forgetful(): Limits {
  const limits = new StoreLimits(() => shared)
  const own = newId()
  const named = (who: AgentView): AgentView => agent(`${own}/${who.agent.id}`, ...who.ancestors.map(named))
  return {
    check: (who, tool, at) => limits.check(named(who), tool, at),
    take: (who, tool, at) => limits.take(named(who), tool, at),
  }
}

/** Intervals on both sides of the windows' edges, and several calls at one moment. */
const somePause = fc.oneof(
  fc.constantFrom(0, 0, 1, minute - 1, minute, minute + 1, hour - minute, hour - 1, hour),
  fc.nat({ max: 2 * minute }),
)
const someTimes = fc.array(somePause, { maxLength: 60 }).map((pauses) => {
  let at = noon
  return pauses.map((pause) => (at += pause))
})
const someLimit = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined })
const someLimits = fc
  .record({ maxCallsPerMinute: someLimit, maxCallsPerHour: someLimit })
  .filter(({ maxCallsPerHour, maxCallsPerMinute }) => maxCallsPerHour !== undefined || maxCallsPerMinute !== undefined)
/** A clock that is also set back, by seconds or by hours. */
const someCrookedTimes = fc
  .array(fc.oneof(somePause, fc.constantFrom(-1, -minute, -hour, -3 * hour, 3 * hour)), { maxLength: 40 })
  .map((pauses) => {
    let at = noon
    return pauses.map((pause) => (at += pause))
  })

/** The largest number of calls in one window of this length. */
function mostInside(times: readonly number[], length: number): number {
  return Math.max(0, ...times.map((end) => times.filter((at) => at > end - length && at <= end).length))
}

async function takeAll(limits: Limits, rateLimit: RateLimit, times: readonly number[]): Promise<number[]> {
  const taken: number[] = []
  for (const at of times) if ((await limits.take(agent("a"), limited(rateLimit), at)).ok) taken.push(at)
  return taken
}

test("law: whatever the times and limits, no window ever holds more than its limit", async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, someTimes, async (rateLimit, times) => {
      const taken = await takeAll(forgetful(), rateLimit, times)
      expect(mostInside(taken, minute)).toBeLessThanOrEqual(rateLimit.maxCallsPerMinute ?? Infinity)
      expect(mostInside(taken, hour)).toBeLessThanOrEqual(rateLimit.maxCallsPerHour ?? Infinity)
    }),
    { numRuns: 300 },
  )
})

test("law: a call is refused only when a window is full", async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, someTimes, async (rateLimit, times) => {
      const limits = forgetful()
      const taken: number[] = []
      for (const at of times) {
        const inside = (length: number) => taken.filter((started) => started > at - length).length
        const { maxCallsPerHour = Infinity, maxCallsPerMinute = Infinity } = rateLimit
        const free = inside(minute) < maxCallsPerMinute && inside(hour) < maxCallsPerHour
        expect((await limits.take(agent("a"), limited(rateLimit), at)).ok).toBe(free)
        if (free) taken.push(at)
      }
    }),
    { numRuns: 300 },
  )
})

test("law: retryAfterMs is exactly when the next call would pass", async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, fc.oneof(someTimes, someCrookedTimes), async (rateLimit, times) => {
      const limits = forgetful()
      for (const at of times) {
        const verdict = await limits.take(agent("a"), limited(rateLimit), at)
        if (verdict.ok) continue
        const then = at + verdict.retryAfterMs
        expect(await limits.check(agent("a"), limited(rateLimit), then - 1)).toMatchObject({ ok: false })
        expect(await limits.check(agent("a"), limited(rateLimit), then)).toEqual({ ok: true })
      }
    }),
    { numRuns: 500 },
  )
})

test("law: a clock that is set back frees no place", async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, someCrookedTimes, async (rateLimit, times) => {
      const taken = await takeAll(forgetful(), rateLimit, times)
      let latest = 0
      const straight = taken.map((at) => (latest = Math.max(latest, at)))
      expect(mostInside(straight, minute)).toBeLessThanOrEqual(rateLimit.maxCallsPerMinute ?? Infinity)
      expect(mostInside(straight, hour)).toBeLessThanOrEqual(rateLimit.maxCallsPerHour ?? Infinity)
    }),
    { numRuns: 300 },
  )
})

test("law: check changes nothing, not even with a wrong clock", async () => {
  await fc.assert(
    fc.asyncProperty(
      someLimits,
      someCrookedTimes,
      fc.array(fc.integer({ min: -4 * hour, max: 4 * hour })),
      async (rateLimit, times, looks) => {
        const [looking, other] = [forgetful(), forgetful()]
        for (const [index, at] of times.entries()) {
          await looking.check(agent("a"), limited(rateLimit), at + (looks[index] ?? 0))
          const verdict = await looking.take(agent("a"), limited(rateLimit), at)
          expect(verdict).toEqual(await other.take(agent("a"), limited(rateLimit), at))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test("a restart forgets nothing, and processes that share a store count together", async () => {
  const system = await openTestApp()
  const limit = { permission: { rateLimit: { maxCallsPerHour: 3 } }, execute: () => 1 }
  system.registry.register(tool(limit))
  const call = { agentId: "operator", tool: "probe", input: {} }
  expect(await system.call(call)).toMatchObject({ success: true })
  const other = await openTestApp({ data: { dir: system.dir } })
  other.registry.register(tool(limit))
  expect(await other.call(call)).toMatchObject({ success: true })
  await system.close()
  const restarted = await openTestApp({ data: { dir: system.dir } })
  restarted.registry.register(tool(limit))
  expect(await restarted.call(call)).toMatchObject({ success: true })
  for (const full of [other, restarted]) {
    expect(await full.call(call)).toMatchObject({
      code: "rate_limited",
      error: expect.stringContaining("Rate limit exceeded: 3 calls per hour"),
    })
  }
})

test("law: a call counts for its agent and all its ancestors", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 3 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      async (callers, most) => {
        const limits = forgetful()
        const top = agent("top")
        const middle = agent("middle", top)
        const agents = [top, middle, agent("left", middle, top), agent("right", middle, top)]
        const counted = new Map<string, number>()
        for (const caller of callers) {
          const who = agents[caller]!
          const chain = [who, ...who.ancestors].map((each) => each.agent.id)
          const free = chain.every((id) => (counted.get(id) ?? 0) < most)
          const verdict = await limits.take(who, limited({ maxCallsPerHour: most }), noon)
          expect(verdict.ok).toBe(free)
          if (free) for (const id of chain) counted.set(id, (counted.get(id) ?? 0) + 1)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test("a refusal because of an ancestor's limit names that agent", async () => {
  const limits = forgetful()
  const [parent, one] = [agent("parent"), limited({ maxCallsPerMinute: 1 })]
  await limits.take(parent, one, noon)
  expect(await limits.take(agent("child", parent), one, noon)).toMatchObject({
    ok: false,
    sentence: expect.stringMatching(/^Rate limit exceeded: 1 calls per minute \(counted for .*parent/),
  })
})

test("retryAfterMs is right although the clock is set back and forth", async () => {
  const limits = forgetful()
  const two = limited({ maxCallsPerMinute: 2 })
  for (const at of [noon + 2 * hour, noon, noon + 2 * hour + minute + 1]) {
    expect(await limits.take(agent("a"), two, at)).toEqual({ ok: true })
  }
  const verdict = await limits.check(agent("a"), two, noon)
  expect(verdict).toMatchObject({ ok: false, retryAfterMs: 2 * hour + minute })
  expect(await limits.check(agent("a"), two, noon + 2 * hour + minute - 1)).toMatchObject({ ok: false })
  expect(await limits.check(agent("a"), two, noon + 2 * hour + minute)).toEqual({ ok: true })
})

test("a clock that was a year ahead for one call fills no window for a year", async () => {
  const limits = forgetful()
  const two = limited({ maxCallsPerHour: 2 })
  expect(await limits.take(agent("a"), two, noon + 365 * 24 * hour)).toEqual({ ok: true })
  for (let call = 0; call < 6; call++) {
    expect(await limits.take(agent("a"), two, noon + 2 * call * hour)).toEqual({ ok: true })
  }
})

test("calls that come at once share one read of the window", async () => {
  const limits = forgetful()
  const tool = limited({ maxCallsPerHour: 2 })
  const verdicts = await Promise.all(Array.from({ length: 5 }, async () => limits.take(agent("a"), tool, noon)))
  expect(verdicts.filter((verdict) => verdict.ok)).toHaveLength(2)
})

test("each agent and tool has its own window, and a tool without limits has none", async () => {
  const limits = forgetful()
  const one = { maxCallsPerMinute: 1 }
  expect(await limits.take(agent("a"), limited(one), noon)).toEqual({ ok: true })
  expect(await limits.take(agent("b"), limited(one), noon)).toEqual({ ok: true })
  expect(await limits.take(agent("a"), limited(one, "other"), noon)).toEqual({ ok: true })
  expect(await limits.take(agent("a"), limited(one), noon)).toMatchObject({ ok: false })
  expect(limits.take(agent("a"), limited({}), noon)).toEqual({ ok: true })
})

test("a refusal names the limit, and of two limits the longer wait counts", async () => {
  const limits = forgetful()
  const both = limited({ maxCallsPerMinute: 1, maxCallsPerHour: 2 })
  await limits.take(agent("a"), both, noon)
  await limits.take(agent("a"), both, noon + hour - 1000)
  expect(await limits.check(agent("a"), both, noon + hour - 500)).toEqual({
    ok: false,
    sentence: "Rate limit exceeded: 1 calls per minute",
    retryAfterMs: minute - 500,
  })
})

test("a refused call does not count, also when a person refused it", async () => {
  const system = await openTestApp(
    {},
    {
      approvals: {
        showToolExecutionApproval: () => Promise.resolve({ approved: false }),
        showToolResultApproval: () => Promise.resolve({ approved: true }),
      },
    },
  )
  system.registry.register(
    tool({ permission: { level: "sensitive", rateLimit: { maxCallsPerHour: 1 } }, execute: () => 1 }),
  )
  for (let call = 0; call < 3; call++) {
    expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
      code: "approval_rejected",
    })
  }
})
