import fc from "fast-check"
import { expect, test } from "vitest"
import { entryText } from "./entry-text.ts"

test("law: the text of an entry is what JSON.stringify says", () => {
  const field = fc.constantFrom("kind", "callId", "at", "input", "ran", "reasons", "error")
  const value = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(undefined), fc.constant(null), fc.jsonValue())
  fc.assert(
    fc.property(fc.dictionary(field, value), (entry) => {
      expect(entryText(entry)).toBe(JSON.stringify(entry))
    }),
    { numRuns: 500 },
  )
})
