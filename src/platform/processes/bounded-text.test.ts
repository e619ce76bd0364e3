import fc from "fast-check"
import { expect, test } from "vitest"
import { BoundedText } from "./bounded-text.ts"

const pieces = fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 40 })
const limits = fc.record({ first: fc.nat(20), last: fc.integer({ min: 1, max: 20 }) })

test("law: the beginning and the end are kept, the rest is counted, and no character is split", () => {
  fc.assert(
    fc.property(pieces, limits, (texts, limit) => {
      const kept = new BoundedText(limit)
      for (const piece of texts) kept.add(piece)
      const whole = texts.join("")
      const text = kept.text()
      if (kept.dropped === 0) {
        expect(text).toBe(whole)
        return
      }
      const mark = `[${kept.dropped} characters were not kept]\n`
      const [before = "", after = ""] = text.split(mark)
      const first = before === "" ? "" : before.slice(0, -1)
      expect(whole.startsWith(first)).toBe(true)
      expect(whole.endsWith(after)).toBe(true)
      expect(first.length + kept.dropped + after.length).toBe(whole.length)
      expect(first.length).toBeLessThanOrEqual(limit.first)
      expect(after.length).toBeLessThanOrEqual(limit.last)
      expect(`${first}|${after}`.isWellFormed()).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test("reading twice gives the same text, and adding goes on", () => {
  const kept = new BoundedText({ first: 2, last: 2 })
  kept.add("abcdef")
  expect([kept.text(), kept.text()]).toEqual(Array(2).fill("ab\n[2 characters were not kept]\nef"))
  kept.add("gh")
  expect(kept.text()).toBe("ab\n[4 characters were not kept]\ngh")
})
