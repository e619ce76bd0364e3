import fc from "fast-check"
import { expect, test } from "vitest"
import { patternsFor } from "../schema/rule-for-touches.ts"
import { compileRule, ruleMatches } from "./rules/conditions.ts"
import { rule, someFacts, someTouch, tools } from "./testing.ts"

const stemOf = (line: string) => (line.startsWith("git") ? "git" : undefined)

test("law: a rule that is offered for a call matches it, and no call that touches something else besides", () => {
  let offered = 0
  fc.assert(
    fc.property(someFacts, someTouch, (call, other) => {
      const touching = patternsFor(call.touches, call.workspace, stemOf)
      if (touching === undefined) return
      offered += 1
      const compiled = compileRule(rule("allow", "*", { touching }), 0, tools)!
      expect(ruleMatches(compiled, call)).toBe(true)
      const more = { list: [...call.touches.list, other], proved: true }
      const isCovered = ruleMatches(compiled, { ...call, touches: more })
      const wider = patternsFor(more, call.workspace, stemOf)
      expect(isCovered).toBe(wider !== undefined && wider.every((pattern) => touching.includes(pattern)))
    }),
    { numRuns: 400 },
  )
  expect(offered).toBeGreaterThan(30)
})
