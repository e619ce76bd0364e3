import fc from "fast-check"
import { expect, test } from "vitest"
import { FirstOf } from "./first-of.ts"

test("law: the first of many are those that would be first if all were put in order", () => {
  const many = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5000 }),
    fc.integer({ min: 0, max: 5000 }).map((count) => Array.from({ length: count }, (_, index) => count - index)),
  )
  fc.assert(
    fc.property(many, fc.integer({ min: 0, max: 300 }), (numbers, most) => {
      const first = new FirstOf<number>(most, (one, other) => one - other)
      for (const number of numbers) first.add(number)
      expect(first.sorted()).toEqual(numbers.toSorted((one, other) => one - other).slice(0, most))
    }),
    { numRuns: 200 },
  )
})
