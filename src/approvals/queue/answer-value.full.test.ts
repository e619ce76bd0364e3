import fc from "fast-check"
import { expect, test } from "vitest"
import { checkAnswer } from "./answer-value.ts"
import { sampleForm, formQuestion } from "./testing/answer-value.ts"

test("the stored value of a form is itself a valid answer, and stays unchanged", () => {
  const value = fc.oneof(
    fc.constantFrom("Ada", "r", "Red", "a", "", 36, -1, 0.5, true, null, ["a"], ["a", "b"], ["a", "a"], {}),
    fc.jsonValue(),
  )
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(sampleForm.properties)),
    fc.constantFrom("__proto__", "toString"),
  )
  const given = fc.oneof(
    fc.dictionary(name, value, { maxKeys: 5 }),
    fc.dictionary(name, value, { maxKeys: 3 }).map((some) => ({ ...some, name: "Ada" })),
  )
  let kept = 0
  fc.assert(
    fc.property(given, (answer) => {
      const read = checkAnswer(formQuestion, answer)
      if ("wrong" in read) return
      kept += 1
      expect(checkAnswer(formQuestion, read.value)).toEqual(read)
      expect(Object.keys(sampleForm.properties)).toEqual(expect.arrayContaining(Object.keys(read.value)))
    }),
    { numRuns: 500 },
  )
  expect(kept).toBeGreaterThan(20)
})
