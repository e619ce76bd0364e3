import fc from "fast-check"
import { expect, test } from "vitest"
import { argumentWords } from "../../lib/argument-words.ts"
import type { ArgumentCondition } from "../../core/rule.ts"
import { readRule } from "../../schema/rule-schema.ts"
import { readArgument } from "./argument-conditions.ts"
import { someCondition } from "../testing.ts"

const holds = (condition: string | ArgumentCondition, value: unknown, loosens: boolean) =>
  readArgument("/n", condition)!.holds(value, loosens)

/** A condition, and what of it holds for a rule that allows and for one that asks or denies. */
const cases: [condition: ArgumentCondition, both: unknown[], onlyStrict: unknown[], neither: unknown[]][] = [
  [{ above: 100 }, [101, 1e21, 100.5], ["101", " 1e21 ", "0xff", "lots", "1,000", "", true, [1, 200], { eur: 200 }, ["x"]], [100, -5, 0, "99", null, undefined, [], {}, [1, 2], { eur: 5 }]],
  [{ below: 0 }, [-1, -1e-9], ["-1", "lots", [3, -3]], [0, 1, "1", null, undefined]],
  [{ above: 0, below: 10 }, [5], ["5", [50, 5]], [0, 10, 50, "50", [50, -50], undefined]],
  [{ oneOf: ["EUR", "US*"] }, ["EUR", "USD"], [["EUR"], { a: ["GBP", "USD"] }], ["GBP", "eur", undefined, null, []]],
  [{ oneOf: [1, true, null] }, [1, true, null], ["1", "1.0", "true", "null", [1], [[null]]], [2, false, "2", undefined]],
  [{ not: "EUR" }, ["GBP", 5, null, true], [undefined, [], {}, ["GBP"], ["EUR", "GBP"]], ["EUR", ["EUR"]]],
  [{ not: ["EUR", 5] }, ["GBP", 6, "6"], [undefined, "5", "5.0", ["EUR", 6]], ["EUR", 5, ["EUR", 5]]],
  [{ above: 0, not: 13 }, [12, 14], ["13", "12", [13, 14]], [13, 0, undefined, []]],
] // prettier-ignore

test.each(cases)("a condition %j holds for values that certainly fit, and where it tightens for those that might", (condition, both, onlyStrict, neither) => {
  const verdicts = (values: unknown[]) => values.map((value) => [value, holds(condition, value, true), holds(condition, value, false)]) // prettier-ignore
  expect(verdicts(both)).toEqual(both.map((value) => [value, true, true]))
  expect(verdicts(onlyStrict)).toEqual(onlyStrict.map((value) => [value, false, true]))
  expect(verdicts(neither)).toEqual(neither.map((value) => [value, false, false]))
}) // prettier-ignore

test("what a rule that allows counts as fitting, a rule that asks or denies counts too", () => {
  fc.assert(
    fc.property(someCondition, fc.jsonValue(), fc.constantFrom(0, 1, "1", "a", true, null), (condition, any, near) => {
      for (const value of [any, near, [near], { a: near }])
        if (holds(condition, value, true)) expect(holds(condition, value, false)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test("more in a condition never makes it hold for more", () => {
  fc.assert(
    fc.property(someCondition, someCondition, fc.jsonValue(), fc.boolean(), (one, more, value, loosens) => {
      const both = { ...more, ...one }
      // A missing value is left out: with a condition on numbers it no longer counts as excluded.
      if (holds(both, value, loosens)) expect(holds(one, value, loosens)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test.each([
  [{ above: 100 }, "above 100"],
  [{ above: 1, below: 5.5 }, "above 1 and below 5.5"],
  [{ oneOf: ["EUR", 5, null] }, "one of EUR, 5, null"],
  [{ not: ["a*", 5] }, "not a* or 5"],
  ["docs/*", "docs/*"],
])("%j reads '%s'", (written, words) => expect(argumentWords(written)).toBe(words))

test.each([
  [{ above: "100" }, "'args./n' is not right: 'above' takes a number, without quotes. Correct it."],
  [{ abov: 1 }, "'args./n.abov' is not a field of a rule. Did you mean 'args./n.above'?"],
  [{ oneOf: "EUR" }, "'args./n' is not right: 'oneOf' takes a list, such as [EUR, USD]. Correct it."],
  [{ above: 5, below: 5 }, "'args./n' is not right: no number is above 5 and below 5. Correct it."],
  [{ not: "[" }, "'args./n' is not right: the pattern '['"],
  [{}, "'args./n' is not right: write a pattern as text, or one or more of above, below, oneOf and not, such as { above: 100 }. Correct it."],
  [100, "'args./n' is not right: write a pattern as text ('100'), or { oneOf: [100] }. Correct it."],
  [[1], "'args./n' is not right: write a pattern as text, or one or more of above"],
])("a condition %j is refused with what to write instead", (given, sentence) => {
  const read = readRule({ ask: "pay", args: { "/n": given }, because: "x" }, "id", "here")
  expect("flaws" in read && read.flaws[0]?.sentence).toContain(sentence)
}) // prettier-ignore
