import fc from "fast-check"
import { expect, test } from "vitest"
import { resultsOf, type CallFacts, type Check, type Need, type Sentences, type Stage } from "../check.ts"
import { callFacts } from "../decide/decide.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules } from "../rules/rules.ts"
import { heldCall, someFacts, someGrantsFor, someMode, someRules, tools } from "../testing.ts"
import { checks } from "./list.ts"

const stages: readonly Stage[] = ["visible", "deny", "ask", "level", "loosen", "release", "shadow"]

test("the checks stand in the order of their stages", () => {
  const order = checks.map(({ stage }) => stages.indexOf(stage))
  expect(order).toEqual([...order].sort((one, other) => one - other))
  expect(new Set(order).size).toBe(stages.length)
})

const verdicts = { deny: "deny", ask: "ask", level: "ask", loosen: "allow", release: "pass", shadow: "pass" } as const

const isMet = ({ rules, findings, grants, mode }: CallFacts): Record<Need, boolean> => ({
  rules: !rules.isEmpty,
  findings: findings.length > 0,
  grants: grants.length > 0,
  mode: mode !== "ask",
})

test("law: a check gives only the verdict of its stage, and finds nothing where what it needs is not there", () => {
  const someCase = someFacts.chain((call) =>
    fc.record({
      call: fc.constantFrom(call, heldCall(call)),
      rules: someRules,
      grants: someGrantsFor(call),
      mode: someMode,
    }),
  )
  const found = new Set<Stage>()
  fc.assert(
    fc.property(someCase, ({ call, rules, grants, mode }) => {
      const facts = callFacts(call, compileRules(rules, tools), new GrantIndex(grants), mode)
      for (const check of checks) {
        const { stage, needs } = check
        if (stage === "visible") continue
        const results = resultsOf(check as unknown as Check<Stage, Sentences, CallFacts>, facts)
        for (const { verdict } of results) expect(verdict).toBe(verdicts[stage])
        if (needs !== undefined && !isMet(facts)[needs]) expect(results).toEqual([])
        if (results.length > 0) found.add(stage)
      }
    }),
    { numRuns: 400, seed: 5 },
  )
  expect([...found].sort()).toEqual(Object.keys(verdicts).sort())
})
