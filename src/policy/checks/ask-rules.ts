import { defineCheck } from "../check.ts"
import { ruleFix } from "../fix-text.ts"
import { unmatchedRules } from "./unmatched-rules.ts"

/** The ask rules that match the call. One with `release` is about the result and left to the release stage. */
export const askRulesCheck = defineCheck({
  name: "rule",
  stage: "ask",
  needs: "rules",
  source: () => "rules",
  look: (facts) =>
    facts.rules.ask
      .find(facts)
      .filter(({ rule }) => rule.release === undefined)
      .map((rule) => ({ verdict: "ask", reason: rule.reason, rule, fix: () => ruleFix(rule.reason.source) })),
  sentences: {},
  unmatched: (facts) => unmatchedRules(facts, "ask"),
})
