import { defineCheck } from "../check.ts"
import { findingsOf } from "../findings.ts"

/** A command that visibly deletes or overwrites, in shell mode `sandbox`. An allow rule lifts this ask, as it lifts the level's. */
export const guardLevelCheck = defineCheck({
  name: "guard",
  stage: "level",
  needs: "findings",
  source: () => "guards",
  look: (facts) =>
    findingsOf(facts, "ask")
      .filter(({ isLiftable }) => isLiftable === true)
      .map(({ reason }) => ({ verdict: "ask", reason })),
  sentences: {},
})
