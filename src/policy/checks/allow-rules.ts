import { defineCheck } from "../check.ts"
import { ruleFix } from "../fix-text.ts"
import { unmatchedRules } from "./unmatched-rules.ts"

/** The allow rules that match the call. */
export const allowRulesCheck = defineCheck({
  name: "rule",
  stage: "loosen",
  needs: "rules",
  source: () => "rules",
  look: (facts) =>
    facts.rules.allow
      .find(facts)
      .map(({ reason }) => ({ verdict: "allow", reason, fix: () => ruleFix(reason.source) })),
  sentences: {},
  unmatched: (facts) => unmatchedRules(facts, "allow"),
})
