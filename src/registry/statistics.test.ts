import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CallStatistics } from "./statistics.ts"

function statsOf(durations: readonly number[]) {
  const statistics = new CallStatistics()
  for (const duration of durations) statistics.count("tool", duration, undefined)
  return statistics.read()["tool"]!
}

/** The smallest duration that is not beaten by this share of the calls. */
function exact(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1]!
}

describe("the statistics of calls", () => {
  it("count calls, failures and the average, and keep the last error", () => {
    const statistics = new CallStatistics()
    statistics.count("read_file", 10, undefined)
    statistics.count("read_file", 20, "Not there.")
    statistics.count("read_file", 30, "Too large.")
    statistics.count("read_file", 40, undefined)
    statistics.count("sleep", 5, undefined)
    expect(statistics.read()).toEqual({
      read_file: { count: 4, failures: 2, avgDuration: 25, p50: 20, p95: 40, lastError: "Too large." },
      sleep: { count: 1, failures: 0, avgDuration: 5, p50: 5, p95: 5 },
    })
  })

  it("know nothing of tools that nobody called", () => {
    expect(new CallStatistics().read()).toEqual({})
  })

  it("what is read does not change with later calls", () => {
    const statistics = new CallStatistics()
    statistics.count("tool", 1, undefined)
    const before = statistics.read()
    statistics.count("tool", 3, "Late.")
    expect(before["tool"]).toEqual({ count: 1, failures: 0, avgDuration: 1, p50: 1, p95: 1 })
  })

  it.each(["__proto__", "constructor", "toString"])("a tool may be called %s", (name) => {
    const statistics = new CallStatistics()
    statistics.count(name, 2, undefined)
    expect(Object.entries(statistics.read())).toEqual([[name, expect.objectContaining({ count: 1, p50: 2 })]])
  })

  it.each([Number.NaN, -5, -Infinity])("a clock that says %s counts as no time", (duration) => {
    expect(statsOf([duration])).toEqual({ count: 1, failures: 0, avgDuration: 0, p50: 0, p95: 0 })
  })

  it("calls shorter than a millisecond have their own place", () => {
    expect(statsOf([0, 0.5, 0.25, 0.25])).toMatchObject({ p50: 0.25, avgDuration: 0.25 })
    expect(statsOf([0.5, 0.5, 2, 2, 2])).toMatchObject({ p50: 2 })
  })

  it("p50 and p95 are within a tenth of the exact ones, from a millisecond to weeks", () => {
    const spread = fc.double({ min: 0, max: 31, noNaN: true }).map((power) => 2 ** power)
    const even = fc.double({ min: 1, max: 1000, noNaN: true })
    const whole = fc.integer({ min: 1, max: 60_000 })
    const edges = fc.constantFrom(1, 1.09, 1.0905, 1.091, 1.18, 2, 8, 16, 2 ** 20, 2 ** 31)
    const durations = fc.oneof(spread, even, whole, edges)
    const law = fc.property(fc.array(durations, { minLength: 1, maxLength: 200 }), (all) => {
      const { p50, p95 } = statsOf(all)
      for (const [found, share] of [
        [p50, 0.5],
        [p95, 0.95],
      ] as const) {
        expect(found / exact(all, share)).toBeGreaterThan(0.9)
        expect(found / exact(all, share)).toBeLessThan(1.1)
      }
    })
    fc.assert(law, { numRuns: 500 })
  })

  it.each([1, 2.5, 64, 1024, 2 ** 25])("holds when nearly all calls are a little shorter, from %d ms", (base) => {
    for (const factor of [1.05, 1.08, 1.09, 1.12, 1.15, 1.2, 32]) {
      const all = [...Array<number>(94).fill(base), ...Array<number>(6).fill(base * factor)]
      const { p50, p95 } = statsOf(all)
      expect(Math.abs(p50 / base - 1)).toBeLessThan(0.1)
      expect(Math.abs(p95 / (base * factor) - 1)).toBeLessThan(0.1)
    }
  })

  it("p50 is never above p95, and neither leaves what was measured", () => {
    const law = fc.property(fc.array(fc.double({ min: 0, max: 1e7, noNaN: true }), { minLength: 1 }), (all) => {
      const { p50, p95 } = statsOf(all)
      expect(p50).toBeLessThanOrEqual(p95)
      expect(p50).toBeGreaterThanOrEqual(Math.min(...all) * 0.999999)
      expect(p95).toBeLessThanOrEqual(Math.max(...all) * 1.000001)
    })
    fc.assert(law, { numRuns: 300 })
  })
})
