import fc from "fast-check"
import { expect, test } from "vitest"
import type { SessionMode } from "../core/organisation.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import type { Verdict } from "../core/verdict.ts"
import type { Grant, Rule } from "../core/rule.ts"
import { decide } from "./decide/decide.ts"
import { GrantIndex } from "./grants.ts"
import { compileRules } from "./rules/rules.ts"
import {
  heldCall,
  now,
  someAgent,
  someFacts,
  someGrantsFor,
  someInput,
  someMode,
  someRule,
  someRules,
  someTool,
  someTouch,
  tools,
} from "./testing.ts"
import { hiddenBecause } from "./decide/visible.ts"

interface Case {
  call: DecisionInput
  rules: readonly Rule[]
  grants: readonly Grant[]
  mode: SessionMode
}

const someCase: fc.Arbitrary<Case> = someFacts.chain((call) =>
  fc.record({
    call: fc.constantFrom(call, call, heldCall(call)),
    rules: someRules,
    grants: someGrantsFor(call),
    mode: someMode,
  }),
)

const judge = ({ call, rules, grants, mode }: Case): Verdict =>
  decide(call, compileRules(rules, tools), new GrantIndex(grants), mode)

const ranks = ["allow", "ask", "deny"]
const releases = [undefined, "on-error", "always"]

/** Everything in which a verdict can be looser than another. */
function expectNotLooser(after: Verdict, before: Verdict): void {
  expect(ranks.indexOf(after.verdict)).toBeGreaterThanOrEqual(ranks.indexOf(before.verdict))
  if (after.verdict === "deny") return
  expect(releases.indexOf(after.release)).toBeGreaterThanOrEqual(releases.indexOf(before.release))
  expect(after.deadlineMs ?? Infinity).toBeLessThanOrEqual(before.deadlineMs ?? Infinity)
  expect(after.approvers ?? []).toEqual(expect.arrayContaining([...(before.approvers ?? [])]))
  const binding = ({ reasons }: Verdict) => reasons.filter((reason) => reason.binding).map(({ sentence }) => sentence)
  expect(binding(after)).toEqual(expect.arrayContaining(binding(before)))
}

const put = <T>(list: readonly T[], one: T, at: number) => list.toSpliced(at % (list.length + 1), 0, one)

test("law 2: a rule that denies, asks or is in shadow never loosens, wherever it is put", () => {
  const someStrict = someRule.map((rule): Rule => (rule.verdict === "allow" ? { ...rule, shadow: true } : rule))
  fc.assert(
    fc.property(someCase, someStrict, fc.nat(), (given, rule, at) => {
      const before = judge(given)
      const after = judge({ ...given, rules: put(given.rules, rule, at) })
      expectNotLooser(after, before)
      if (rule.shadow === true) expect(after.verdict).toBe(before.verdict)
    }),
    { numRuns: 400 },
  )
})

test("law 2: one more agent above never loosens, and never shows a tool", () => {
  fc.assert(
    fc.property(someCase, someAgent, fc.nat(), (given, ancestor, at) => {
      const { call } = given
      const who = { ...call.who, ancestors: put(call.who.ancestors, ancestor, at) }
      expectNotLooser(judge({ ...given, call: { ...call, who } }), judge(given))
      const ruleSet = compileRules(given.rules, tools)
      const policy = {
        hiddenByRule: (tool: DecisionInput["tool"], one: DecisionInput["who"]) =>
          ruleSet.select(tool, one).hidden(call.at),
      }
      const hidden = (one: DecisionInput["who"]) => hiddenBecause(call.tool, one, tools, "asc", policy) !== undefined
      if (hidden(call.who)) expect(hidden(who)).toBe(true)
    }),
    { numRuns: 400 },
  )
})

test("law 2: a touch more never loosens a call that touches something, nor does a doubt about its touches", () => {
  fc.assert(
    fc.property(someCase, someTouch, fc.nat(), (given, touch, at) => {
      const { call } = given
      fc.pre(call.tool.touches !== undefined)
      const { list, proved } = call.touches
      const touching = (touches: DecisionInput["touches"]) => judge({ ...given, call: { ...call, touches } })
      expectNotLooser(touching({ list, proved: false }), judge(given))
      if (list.length > 0) expectNotLooser(touching({ list: put(list, touch, at), proved }), judge(given))
    }),
    { numRuns: 400 },
  )
})

test("law 2: neither the mode plan, nor a limit, nor a remembered no, nor the call's own request for a confirmation loosens", () => {
  const wholeInput = ({ rules }: Case) => rules.some(({ args = {} }) => Object.hasOwn(args, ""))
  fc.assert(
    fc.property(someCase, (given) => {
      const { call } = given
      const before = judge({ ...given, mode: "ask" })
      expectNotLooser(judge({ ...given, mode: "plan" }), before)
      const limit = { ok: false as const, sentence: "Too many.", retryAfterMs: 1 }
      expectNotLooser(judge({ ...given, call: { ...call, limit } }), judge(given))
      const [grant] = given.grants
      const no = grant && { ...grant, verdict: "deny" as const }
      if (no) expectNotLooser(judge({ ...given, grants: [...given.grants, no] }), judge(given))
      if (wholeInput(given)) return
      for (const parameter of ["require_confirmation", "requireConfirmation"]) {
        const confirmed = { ...call, input: { ...(call.input as object), [parameter]: true } }
        expectNotLooser(judge({ ...given, call: confirmed, grants: [] }), judge({ ...given, grants: [] }))
        expect(judge({ ...given, call: confirmed }).verdict).not.toBe("allow")
      }
    }),
    { numRuns: 400 },
  )
})

test("law 2: allow rules, grants and the mode edits lead only from the level's own ask to allow; nothing lifts a deny", () => {
  const loosened: string[] = []
  const someLooser = someCase.chain((given) =>
    fc.record({
      given: fc.constant({ ...given, mode: "ask" as const }),
      rules: fc.array(someRule.map((rule): Rule => ({ ...rule, verdict: "allow" }))),
      grants: someGrantsFor(given.call).map((grants) => grants.filter(({ verdict }) => verdict === "allow")),
      mode: fc.constantFrom("ask" as const, "edits" as const),
    }),
  )
  fc.assert(
    fc.property(someLooser, ({ given, rules, grants, mode }) => {
      const before = judge(given)
      const after = judge({ ...given, rules: [...given.rules, ...rules], grants: [...given.grants, ...grants], mode })
      if (after.verdict === before.verdict) return
      expect([before.verdict, after.verdict]).toEqual(["ask", "allow"])
      expect(before.reasons.filter((reason) => reason.shadow === undefined)[0]?.check).toBe("level")
      expect(before.reasons.some((reason) => reason.binding === true)).toBe(false)
      expect(after.reasons[0]?.check).toMatch(/^(rule|grant|mode)$/)
      if (after.reasons[0]?.check === "grant") expect(given.call.tool.permission.level).not.toBe("sensitive")
      loosened.push(after.reasons[0]!.check)
    }),
    { numRuns: 1000, seed: 2 },
  )
  expect(loosened).toEqual(expect.arrayContaining(["rule", "grant"]))
})

const withoutConditions = ({ args: _args, touching: _touching, except: _except, ...rule }: Rule): Rule => rule

test("law 6: by rules that look at no input a tool is hidden exactly when every input is denied", () => {
  fc.assert(
    fc.property(someRules, someFacts, fc.array(someInput, { minLength: 1, maxLength: 3 }), (given, call, inputs) => {
      const ruleSet = compileRules(given.map(withoutConditions), tools)
      const hidden = ruleSet.select(call.tool, call.who).hidden(call.at)
      for (const input of inputs) {
        const { verdict, reasons } = decide({ ...call, input, limit: { ok: true } }, ruleSet, new GrantIndex(), "ask")
        expect(verdict === "deny").toBe(hidden !== undefined)
        if (hidden !== undefined) expect(reasons[0]).toBe(hidden)
      }
    }),
    { numRuns: 300 },
  )
})

test("law 6: rules on arguments or touches, limits and modes never hide a tool", () => {
  fc.assert(
    fc.property(someRules, someAgent, someTool, (rules, who, tool) => {
      const conditional = rules.filter(({ args, touching, except }) => args ?? touching ?? except)
      expect(compileRules(conditional, tools).select(tool, who).hidden(now)).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})
