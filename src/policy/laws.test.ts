import fc from "fast-check"
import { expect, test } from "vitest"
import type { SessionMode } from "../model/organisation.ts"
import type { Facts, Verdict } from "../model/ports.ts"
import type { Grant, Rule } from "../model/rule.ts"
import { decide } from "./decide.ts"
import { GrantIndex } from "./grants.ts"
import { compile } from "./rules.ts"
import {
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
import { hiddenBecause } from "./visible.ts"

interface Case {
  call: Facts
  rules: readonly Rule[]
  grants: readonly Grant[]
  mode: SessionMode
}

const someCase: fc.Arbitrary<Case> = someFacts.chain((call) =>
  fc.record({ call: fc.constant(call), rules: someRules, grants: someGrantsFor(call), mode: someMode }),
)

const judge = ({ call, rules, grants, mode }: Case): Verdict =>
  decide(call, compile(rules, tools), new GrantIndex(grants), mode)

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

test("law 2: a rule that denies, asks or stands in shadow never loosens, wherever it is put", () => {
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

test("law 2: a spawner more never loosens, and never shows a tool", () => {
  fc.assert(
    fc.property(someCase, someAgent, fc.nat(), (given, spawner, at) => {
      const { call } = given
      const who = { ...call.who, spawners: put(call.who.spawners, spawner, at) }
      expectNotLooser(judge({ ...given, call: { ...call, who } }), judge(given))
      const book = compile(given.rules, tools)
      const policy = { hidden: (tool: Facts["tool"], one: Facts["who"]) => book.select(tool, one).hidden }
      const hidden = (one: Facts["who"]) => hiddenBecause(call.tool, one, tools, "asc", policy) !== undefined
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
      const touching = (touches: Facts["touches"]) => judge({ ...given, call: { ...call, touches } })
      expectNotLooser(touching({ list, proved: false }), judge(given))
      if (list.length > 0) expectNotLooser(touching({ list: put(list, touch, at), proved }), judge(given))
    }),
    { numRuns: 400 },
  )
})

test("law 2: neither the mode plan, nor a limit, nor a remembered no, nor the call's own wish loosens [C-17]", () => {
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
      for (const wish of ["require_confirmation", "requireConfirmation"]) {
        const wishing = { ...call, input: { ...(call.input as object), [wish]: true } }
        expectNotLooser(judge({ ...given, call: wishing, grants: [] }), judge({ ...given, grants: [] }))
        expect(judge({ ...given, call: wishing }).verdict).not.toBe("allow")
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
      expect(before.reasons.filter((reason) => reason.shadow === undefined)[0]?.voice).toBe("level")
      expect(before.reasons.some((reason) => reason.binding === true)).toBe(false)
      expect(after.reasons[0]?.voice).toMatch(/^(rule|grant|mode)$/)
      loosened.push(after.reasons[0]!.voice)
    }),
    { numRuns: 500, seed: 2 },
  )
  expect(loosened).toEqual(expect.arrayContaining(["rule", "grant"]))
})

const withoutConditions = ({ args: _args, touching: _touching, except: _except, ...rule }: Rule): Rule => rule

test("law 6: by rules that look at no input a tool is hidden exactly when every input is denied", () => {
  fc.assert(
    fc.property(someRules, someFacts, fc.array(someInput, { minLength: 1, maxLength: 3 }), (given, call, inputs) => {
      const book = compile(given.map(withoutConditions), tools)
      const { hidden } = book.select(call.tool, call.who)
      for (const input of inputs) {
        const { verdict, reasons } = decide({ ...call, input, limit: { ok: true } }, book, new GrantIndex(), "ask")
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
      expect(compile(conditional, tools).select(tool, who).hidden).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})
