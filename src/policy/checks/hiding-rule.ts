import { defineCheck } from "../check.ts"
import { ruleFix } from "../fix-text.ts"

/** A deny rule without `args`, `touching` and `except`: no input escapes it, so the tool is hidden. */
export const hidingRuleCheck = defineCheck({
  name: "rule",
  stage: "visible",
  source: () => "rules",
  look({ hidingRule }) {
    const reason = hidingRule()
    return reason && { verdict: "deny", reason, fix: () => ruleFix(reason.source) }
  },
  sentences: {},
})
