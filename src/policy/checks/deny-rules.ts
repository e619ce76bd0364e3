import { defineCheck } from "../check.ts"
import { ruleFix } from "../fix-text.ts"
import { unmatchedRules } from "./unmatched-rules.ts"

/** The deny rules that match the call. */
export const denyRulesCheck = defineCheck({
  name: "rule",
  stage: "deny",
  needs: "rules",
  source: () => "rules",
  look: (facts) =>
    facts.rules.deny.find(facts).map(({ reason }) => ({ verdict: "deny", reason, fix: () => ruleFix(reason.source) })),
  sentences: {},
  passes: {
    en: ({ rules }) => (rules.isEmpty ? "No rule is about this agent and tool." : undefined),
    zh: "没有规则针对此智能体和此工具。",
  },
  unmatched: (facts) => unmatchedRules(facts, "deny"),
})
