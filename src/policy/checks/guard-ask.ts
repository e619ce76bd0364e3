import { defineCheck } from "../check.ts"
import { findingsOf } from "../findings.ts"

/** A path, command or host that a guard asks about. Only a person lifts it, each time. */
export const guardAskCheck = defineCheck({
  name: "guard",
  stage: "ask",
  needs: "findings",
  source: () => "guards",
  look: (facts) =>
    findingsOf(facts, "ask")
      .filter(({ isLiftable }) => isLiftable !== true)
      .map(({ reason }) => ({ verdict: "ask", reason })),
  sentences: {},
})
