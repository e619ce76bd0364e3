import { defineCheck } from "../check.ts"

/** The ask rules with `release` that match: they say nothing about the run, and hold its result for a person. */
export const releaseRulesCheck = defineCheck({
  name: "rule",
  stage: "release",
  needs: "rules",
  source: () => "rules",
  look: (facts) => facts.rules.release.find(facts).map((rule) => ({ verdict: "pass", reason: rule.reason, rule })),
  sentences: {},
})
