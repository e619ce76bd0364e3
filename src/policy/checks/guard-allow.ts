import { defineCheck } from "../check.ts"
import { findingsOf } from "../findings.ts"
import { guardFix } from "../fix-text.ts"

/** A line of the configuration allows everything the call touches, or bubblewrap holds it. */
export const guardAllowCheck = defineCheck({
  name: "guard",
  stage: "loosen",
  needs: "findings",
  source: () => "guards",
  look: (facts) =>
    findingsOf(facts, "allow").map(({ reason }) => ({ verdict: "allow", reason, fix: () => guardFix(reason.source) })),
  sentences: {},
})
