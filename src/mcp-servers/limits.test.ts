import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { backoffMs, Breaker } from "./breaker.ts"
import { MessageRateLimiter } from "./message-rate.ts"
import { clientLimits } from "./limits.ts"
import { LineSplitter, MessageTooLarge } from "./line-splitter.ts"

describe("the line splitter", () => {
  test("returns the same lines however the bytes are split", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "💡", "\r", "{", "\u2028"), maxLength: 12 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.array(fc.nat(9), { maxLength: 12 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""))
        const found: string[] = []
        const splitter = new LineSplitter(1000)
        let from = 0
        for (const cut of [...cuts, bytes.length]) {
          found.push(...splitter.split(bytes.subarray(from, from + cut)))
          from += cut
        }
        expect(found).toEqual(lines.map((text) => Buffer.from(text).toString("utf8")))
      }),
      { numRuns: 100 },
    )
  })

  test("throws exactly when a line is longer than the limit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 25 }),
        fc.boolean(),
        (size, cut, ended) => {
          const bytes = Buffer.from("x".repeat(size) + (ended ? "\n" : ""))
          const splitter = new LineSplitter(40)
          const read = () => {
            for (let at = 0; at < bytes.length; at += cut)
              for (const _ of splitter.split(bytes.subarray(at, at + cut)));
          }
          if (size > 40) expect(read).toThrow(MessageTooLarge)
          else expect(read).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe("the circuit breaker", () => {
  test("opens for 30 seconds at the fifth failure in a row and at each one after", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("failed" as const), after: fc.nat(20_000) }),
      fc.record({ kind: fc.constant("succeeded" as const), after: fc.nat(20_000) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const breaker = new Breaker()
        let now = 0
        let inARow = 0
        let openUntil = 0
        for (const { kind, after } of steps) {
          now += after
          inARow = kind === "failed" ? inARow + 1 : 0
          openUntil = kind === "succeeded" ? 0 : inARow >= 5 ? now + 30_000 : openUntil
          if (kind === "failed") breaker.failed(now)
          else breaker.succeeded()
          expect(breaker.openUntil(now)).toBe(openUntil > now ? openUntil : 0)
          expect(breaker.openUntil(now + 30_000)).toBe(0)
        }
      }),
      { numRuns: 300 },
    )
  })

  test("waits half a second to a minute between attempts, longer each time, with a random part", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const delay = backoffMs(failures, () => chance)
        const longest = Math.min(60_000, 500 * 2 ** Math.max(0, failures - 1))
        expect(delay).toBeGreaterThanOrEqual(longest / 2)
        expect(delay).toBeLessThanOrEqual(longest)
        expect(backoffMs(failures + 1, () => chance)).toBeGreaterThanOrEqual(delay)
      }),
      { numRuns: 300 },
    )
  })
})

describe("the message rate limiter", () => {
  test("accepts every response, and notifications up to the limit per second", () => {
    const step = fc.record({ after: fc.nat(400), notes: fc.nat(400), answers: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let now = 0
        const limiter = new MessageRateLimiter(
          () => {},
          () => now,
        )
        const passed: { at: number; count: number }[] = []
        for (const { after, notes, answers } of steps) {
          now += after
          let count = 0
          for (let at = 0; at < notes; at++) if (limiter.accepts({ method: "x" })) count++
          for (let at = 0; at < answers; at++) if (!limiter.accepts({ id: 1 })) return false
          passed.push({ at: now, count })
        }
        return passed.every(({ at }) => {
          const second = passed.filter((other) => other.at >= at && other.at < at + 1000)
          return second.reduce((sum, { count }) => sum + count, 0) <= 2 * clientLimits.notificationsPerSecond
        })
      }),
      { numRuns: 100 },
    )
  })

  test("pauses until the second is over when there are too many messages", () => {
    let now = 5000
    const limiter = new MessageRateLimiter(
      () => {},
      () => now,
    )
    for (let at = 0; at < clientLimits.messagesPerSecond; at++) limiter.accepts({ id: at })
    expect(limiter.pauseMs()).toBe(0)
    now = 5400
    limiter.accepts({ id: 0 })
    expect(limiter.pauseMs()).toBe(600)
    now = 6000
    expect(limiter.pauseMs()).toBe(0)
  })
})
