import fc from "fast-check"
import { expect, test } from "vitest"
import { TopItems } from "./top-items.ts"

test("law: the first items are those that would be first if all were sorted", () => {
  const many = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5000 }),
    fc.integer({ min: 0, max: 5000 }).map((count) => Array.from({ length: count }, (_, index) => count - index)),
  )
  fc.assert(
    fc.property(many, fc.integer({ min: 0, max: 300 }), (numbers, most) => {
      const first = new TopItems<number>(most, (one, other) => one - other)
      for (const number of numbers) first.add(number)
      expect(first.sorted()).toEqual(numbers.toSorted((one, other) => one - other).slice(0, most))
    }),
    { numRuns: 200 },
  )
})

test("law: of weighted items, the first are kept up to the total weight", () => {
  const things = fc.array(fc.record({ at: fc.integer({ min: 0, max: 10_000 }), weight: fc.integer({ min: 1, max: 50 }) }), { maxLength: 1000 }) // prettier-ignore
  fc.assert(
    fc.property(things, fc.integer({ min: 0, max: 300 }), (all, most) => {
      const byPlace = (one: { at: number }, other: { at: number }) => one.at - other.at
      const unique = [...new Map(all.map((one) => [one.at, one])).values()]
      const first = new TopItems(most, byPlace, ({ weight }: { at: number; weight: number }) => weight)
      for (const one of unique) first.add(one)
      let together = 0
      const expected = unique.toSorted(byPlace).filter(({ weight }) => (together += weight) - weight < most)
      expect(first.sorted()).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})
