import fc from "fast-check"
import { expect, test } from "vitest"
import type { DecisionInput } from "../rules/decision-input.ts"
import { decide } from "./decide.ts"
import { heldCall, someFacts, someGrantsFor, someMode, someRules, tools } from "../testing.ts"
import { hiddenBecause } from "./visible.ts"
import { policyState, why, verdictFromChecks } from "../testing/explain.ts"

const someCase = someFacts.chain((call) =>
  fc.record({
    call: fc.constantFrom(call, call, heldCall(call)),
    rules: someRules,
    grants: someGrantsFor(call),
    mode: someMode,
  }),
)

test("law: explain decides what hiddenBecause and decide decide, and its checks alone lead to the same", () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(someCase, ({ call, rules, grants, mode }) => {
      const given = policyState(rules, grants, { mode })
      const explained = why(call, given)
      const policy = {
        hiddenByRule: (tool: DecisionInput["tool"], who: DecisionInput["who"]) =>
          given.ruleSet.select(tool, who).hidden(call.at),
      }
      const hidden = hiddenBecause(call.tool, call.who, tools, "asc", policy)
      const decided = decide(call, given.ruleSet, given.grants, mode)
      expect(verdictFromChecks(explained)).toBe(explained.verdict)
      if (hidden !== undefined) {
        expect(explained).toMatchObject({ verdict: "deny", code: "tool_not_available" })
        expect(explained.reasons[0]).toEqual(hidden)
      } else {
        const { verdict, code, reasons, approvers = [], release = "never" } = decided
        expect(explained).toMatchObject({ verdict, code, reasons, approvers, release })
      }
      expect(explained.change.length).toBeGreaterThan(0)
      seen.add(`${explained.verdict} ${explained.code}`)
    }),
    { numRuns: 800, seed: 3 },
  )
  expect([...seen]).toEqual(
    expect.arrayContaining(["allow undefined", "ask undefined", "deny permission_denied", "deny tool_not_available"]),
  )
})
