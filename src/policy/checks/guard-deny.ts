import { defineCheck } from "../check.ts"
import { findingsOf } from "../findings.ts"
import { guardFix } from "../fix-text.ts"

/** A path, command or host that a guard denies. */
export const guardDenyCheck = defineCheck({
  name: "guard",
  stage: "deny",
  needs: "findings",
  source: () => "guards",
  look: (facts) =>
    findingsOf(facts, "deny").map(({ reason, code }) => ({
      verdict: "deny",
      reason,
      ending: code,
      fix: () => guardFix(reason.source),
    })),
  sentences: {},
})
