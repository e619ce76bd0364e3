import { expect, test } from "vitest"
import { facts, rule } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { allowRulesCheck } from "./allow-rules.ts"
import { askRulesCheck } from "./ask-rules.ts"
import { denyRulesCheck } from "./deny-rules.ts"
import { releaseRulesCheck } from "./release-rules.ts"
import { shadowRulesCheck } from "./shadow-rules.ts"

const rules = [
  rule("deny", "*", { args: { "/n": "1" }, source: "rule denies" }),
  rule("ask", "*", { source: "quartermaster.yml rules[4]" }),
  rule("ask", "*", { release: "on-error", source: "rule holds" }),
  rule("allow", "probe", { source: "rule allows" }),
  rule("deny", "*", { shadow: true, source: "rule shadow" }),
  rule("deny", "other", { source: "rule other" }),
]
const call = facts({ input: { n: 1 } })

test.each([
  ["deny", lookAtCall(denyRulesCheck, call, { rules }), "rule_denies", "rule denies", "qm rules remove denies"],
  ["ask", lookAtCall(askRulesCheck, call, { rules }), "rule_asks", "quartermaster.yml rules[4]", "Change or remove the rule at quartermaster.yml rules[4]"],
  ["allow", lookAtCall(allowRulesCheck, call, { rules }), "rule_allows", "rule allows", "qm rules remove allows"],
  ["pass", lookAtCall(releaseRulesCheck, call, { rules }), "rule_holds_result", "rule holds", undefined],
  ["pass", lookAtCall(shadowRulesCheck, call, { rules }), "rule_denies", "rule shadow", undefined],
])("each check takes the rules of its kind that match: %s", (verdict, results, code, source, fix) => {
  expect(results).toMatchObject([{ verdict, check: "rule", code, source, fix }])
}) // prettier-ignore

test("a rule that does not match the input finds nothing", () => {
  expect(lookAtCall(denyRulesCheck, facts({ input: { n: 2 } }), { rules })).toEqual([])
})

test("only the rule that asks before the run binds", () => {
  expect(lookAtCall(askRulesCheck, call, { rules })[0]).toHaveProperty("binding", true)
  expect(lookAtCall(releaseRulesCheck, call, { rules })[0]).not.toHaveProperty("binding")
})

test("a rule that comes with Quartermaster cannot be changed", () => {
  const builtIn = [rule("allow", "*", { source: "built in" })]
  expect(lookAtCall(allowRulesCheck, call, { rules: builtIn })).toMatchObject([{ fix: undefined }])
})
