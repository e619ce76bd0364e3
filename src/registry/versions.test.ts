import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compareVersions, newestFirst } from "./versions.ts"

describe("of two versions", () => {
  it.each([
    ["1.10.0", "1.9.0"],
    ["2.0.0", "1.99.99"],
    ["1.0.1", "1.0"],
    ["10", "9.9"],
    ["1.0.0", "1.0.0-beta"],
    ["1.0.0-beta", "1.0.0-alpha"],
    ["1.0.0-beta.11", "1.0.0-beta.2"],
    ["1.0.0-beta.1", "1.0.0-beta"],
    ["1.0.0-alpha.beta", "1.0.0-alpha.1"],
    ["1.0.0-10a", "1.0.0-10"],
    ["1.0.0-10a", "1.0.0-2"],
    ["1.0.0-rc-2", "1.0.0-rc-1"],
    ["1.0.1-alpha", "1.0.0"],
    ["20240101123456789013", "20240101123456789012"],
    [`1${"0".repeat(400)}`, "9".repeat(400)],
    ["2024a", "2024"],
  ])("%s is newer than %s", (newer, older) => {
    expect(compareVersions(newer, older)).toBeGreaterThan(0)
    expect(compareVersions(older, newer)).toBeLessThan(0)
  })

  it.each([
    ["1.0.0", "1.0.0"],
    ["1.0", "1.0.0"],
    ["1.0.0+mac", "1.0.0+linux"],
    ["1.0.0-beta+1", "1.0.0-beta"],
    ["01.2", "1.2"],
  ])("%s is as new as %s", (one, other) => {
    expect(compareVersions(one, other)).toBe(0)
  })
})

describe("the order of versions", () => {
  /** Versions that meet: few numbers, few words, numbers that begin words. */
  const part = fc.constantFrom("0", "1", "2", "9", "10", "11", "1a", "10a", "2a", "a", "B", "beta", "")
  const dotted = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("."))
  const tail = fc.constantFrom("", "-", "-", "+build")
  const versions = fc.tuple(dotted, tail, dotted).map(([main, mark, rest]) => {
    return mark === "-" ? `1${main}-${rest}` : `1${main}${mark}`
  })

  it("is an order: it can be turned round, and what is newer than the newer is newer", () => {
    const law = fc.property(versions, versions, versions, (one, two, three) => {
      expect(Math.sign(compareVersions(one, two))).toBe(-Math.sign(compareVersions(two, one)) + 0)
      const [oldest, middle, newest] = [one, two, three].sort(compareVersions) as [string, string, string]
      expect(compareVersions(oldest, middle)).toBeLessThanOrEqual(0)
      expect(compareVersions(middle, newest)).toBeLessThanOrEqual(0)
      expect(compareVersions(oldest, newest)).toBeLessThanOrEqual(0)
    })
    fc.assert(law, { numRuns: 2000 })
  })

  it("newestFirst keeps every item, the newest first, and does not touch the list", () => {
    const law = fc.property(fc.array(versions.map((version) => ({ version }))), (items) => {
      const before = [...items]
      const sorted = newestFirst(items)
      expect(items).toEqual(before)
      expect(new Set(sorted)).toEqual(new Set(items))
      expect(sorted).toHaveLength(items.length)
      for (const [index, item] of sorted.entries()) {
        const next = sorted[index + 1] ?? item
        expect(compareVersions(item.version, next.version)).toBeGreaterThanOrEqual(0)
      }
    })
    fc.assert(law, { numRuns: 300 })
  })
})
