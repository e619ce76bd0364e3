import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { backoffMs, Breaker } from "./breaker.ts"
import { FloodGate } from "./flood.ts"
import { clientLimits } from "./limits.ts"
import { Lines, TooLarge } from "./lines.ts"

describe("lines", () => {
  test("come out as they went in, however the bytes are cut", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "💡", "\r", "{", "\u2028"), maxLength: 12 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.array(fc.nat(9), { maxLength: 12 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""))
        const found: string[] = []
        const splitter = new Lines(1000)
        let from = 0
        for (const cut of [...cuts, bytes.length]) {
          found.push(...splitter.take(bytes.subarray(from, from + cut)))
          from += cut
        }
        expect(found).toEqual(lines.map((text) => Buffer.from(text).toString("utf8")))
      }),
      { numRuns: 100 },
    )
  })

  test("are refused exactly when one is longer than the limit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 25 }),
        fc.boolean(),
        (size, cut, ended) => {
          const bytes = Buffer.from("x".repeat(size) + (ended ? "\n" : ""))
          const splitter = new Lines(40)
          const read = () => {
            for (let at = 0; at < bytes.length; at += cut) for (const _ of splitter.take(bytes.subarray(at, at + cut)));
          }
          if (size > 40) expect(read).toThrow(TooLarge)
          else expect(read).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe("the circuit breaker", () => {
  test("opens at the fifth failure in a row, for half a minute, and at each failure after that", () => {
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

  test("waits half a second to a minute between attempts, longer each time, never in step", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const delay = backoffMs(failures, () => chance)
        const whole = Math.min(60_000, 500 * 2 ** Math.max(0, failures - 1))
        expect(delay).toBeGreaterThanOrEqual(whole / 2)
        expect(delay).toBeLessThanOrEqual(whole)
        expect(backoffMs(failures + 1, () => chance)).toBeGreaterThanOrEqual(delay)
      }),
      { numRuns: 300 },
    )
  })
})

describe("the flood gate", () => {
  test("lets every answer through and no more notifications in a second than it may", () => {
    const step = fc.record({ after: fc.nat(400), notes: fc.nat(400), answers: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let now = 0
        const gate = new FloodGate(
          () => {},
          () => now,
        )
        const passed: { at: number; count: number }[] = []
        for (const { after, notes, answers } of steps) {
          now += after
          let count = 0
          for (let at = 0; at < notes; at++) if (gate.lets({ method: "x" })) count++
          for (let at = 0; at < answers; at++) if (!gate.lets({ id: 1 })) return false
          passed.push({ at: now, count })
        }
        return passed.every(({ at }) => {
          const second = passed.filter((other) => other.at >= at && other.at < at + 1000)
          return second.reduce((sum, { count }) => sum + count, 0) <= 2 * clientLimits.notesPerSecond
        })
      }),
      { numRuns: 100 },
    )
  })

  test("rests until the second is over when there is too much of anything", () => {
    let now = 5000
    const gate = new FloodGate(
      () => {},
      () => now,
    )
    for (let at = 0; at < clientLimits.messagesPerSecond; at++) gate.lets({ id: at })
    expect(gate.restMs()).toBe(0)
    now = 5400
    gate.lets({ id: 0 })
    expect(gate.restMs()).toBe(600)
    now = 6000
    expect(gate.restMs()).toBe(0)
  })
})
