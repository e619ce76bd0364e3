import { expect, test } from "vitest"
import { findFlaws } from "../../../src/policy/rules/flaws.ts"
import { rule } from "../../../src/policy/testing.ts"
import { known } from "../../../src/policy/testing/flaws.ts"
import { flawText } from "./flaw-text.ts"

test.each([
  ["dead", [rule("deny", "read_fiel")]],
  ["a role that is not there", [rule("allow", "read_file", { role: ["nobody"] })]],
  ["repeated", [rule("deny", "read_file"), rule("deny", "read_file", { id: "r2", source: "rule r2" })]],
  ["covered", [rule("deny", "read_file"), rule("allow", "read_file", { id: "r2", source: "rule r2" })]],
])("what is wrong with a rule that is %s is said in Chinese", (_what, rules) => {
  const [flaw] = findFlaws(rules, known)
  expect(flawText(flaw!.sentence, "en")).toBe(flaw!.sentence)
  expect(flawText(flaw!.sentence, "zh")).not.toMatch(/[A-Za-z]+ [A-Za-z]+ [A-Za-z]+/)
})
