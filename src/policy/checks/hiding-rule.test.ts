import { expect, test } from "vitest"
import { agent, registered, rule } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { hidingRuleCheck } from "./hiding-rule.ts"

const boss = agent({ id: "boss" })
const kid = agent({ id: "kid", ancestors: [boss] })

test("a rule that denies whatever the input hides the tool from the agent and from everyone below it", () => {
  const rules = [rule("deny", "probe", { agent: ["boss"], source: "rule r7" })]
  for (const who of [boss, kid])
    expect(lookVisible(hidingRuleCheck, registered(), who, { rules })).toMatchObject([
      { check: "rule", code: "rule_denies", source: "rule r7", fix: "qm rules remove r7" },
    ])
  expect(lookVisible(hidingRuleCheck, registered(), agent({ id: "other" }), { rules })).toEqual([])
})

test("a rule that looks at the input hides nothing", () => {
  const rules = [rule("deny", "*", { args: { "/a": "*" } }), rule("deny", "*", { shadow: true }), rule("ask", "*")]
  expect(lookVisible(hidingRuleCheck, registered(), boss, { rules })).toEqual([])
})
