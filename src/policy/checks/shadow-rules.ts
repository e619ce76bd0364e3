import { defineCheck } from "../check.ts"

/** The rules with `shadow: true` that match: what they would have decided is written down. */
export const shadowRulesCheck = defineCheck({
  name: "rule",
  stage: "shadow",
  needs: "rules",
  source: () => "rules",
  look: (facts) => facts.rules.shadow.find(facts).map(({ reason }) => ({ verdict: "pass", reason })),
  sentences: {},
})
