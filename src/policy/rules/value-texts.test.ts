import fc from "fast-check"
import { expect, test } from "vitest"
import { canonicalJson } from "../../lib/canonical-json.ts"
import { textsOf } from "./value-texts.ts"

/** Every part of a value, itself too. */
function partsOf(value: unknown): unknown[] {
  const inside: unknown[] = typeof value === "object" && value !== null ? Object.values(value) : []
  return [value, ...inside.flatMap(partsOf)]
}

test("law: within a value its parts are compared by the texts they have by themselves", () => {
  const name = fc.constantFrom("a", "b", "10", "9", "-1", "é", '"')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>("", "a", 'x"y', 0, 1.5, true, null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    ),
  }))
  const own = (part: unknown) => (typeof part === "string" ? part : canonicalJson(part))
  fc.assert(
    fc.property(value, (given) => {
      expect([...textsOf(given, true)].sort()).toEqual(partsOf(given).map(own).sort())
      expect(textsOf(given, false)).toEqual([own(given)])
    }),
    { numRuns: 500 },
  )
})

test("what is undefined has no text, and what is no plain object is compared as a whole", () => {
  expect(textsOf(undefined, true)).toEqual([])
  expect(textsOf({ a: undefined, b: [undefined] }, true)).toEqual(["[null]", '{"b":[null]}'])
  expect(textsOf(new Date(0), true)).toEqual(['"1970-01-01T00:00:00.000Z"'])
})
