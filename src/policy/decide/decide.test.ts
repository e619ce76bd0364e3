import { expect, test } from "vitest"
import type { SessionMode } from "../../core/organisation.ts"
import type { ToolPermission } from "../../core/permission.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Grant, Rule } from "../../core/rule.ts"
import { decide } from "./decide.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules } from "../rules/rules.ts"
import { facts, grantFor, heldCall, registered, rule, tools } from "../testing.ts"

interface Policy {
  rules?: readonly Rule[]
  grants?: readonly Grant[]
  mode?: SessionMode
}

const judge = (call: DecisionInput, { rules = [], grants = [], mode = "ask" }: Policy = {}) =>
  decide(call, compileRules(rules, tools), new GrantIndex(grants), mode)

const calling = (permission: ToolPermission, change: Partial<DecisionInput> = {}) =>
  facts({ tool: registered({ effect: "write", permission }), ...change })

test("an allowed call needs confirmation exactly when its tool is dangerous or asks for it", () => {
  for (const dangerous of [false, true]) {
    for (const requireConfirmation of [false, true]) {
      const { verdict } = judge(calling({ level: "public", dangerous, requireConfirmation }))
      expect(verdict).toBe(dangerous || requireConfirmation ? "ask" : "allow")
    }
  }
})

test("a plain call costs nothing: the same verdict object is given each time", () => {
  const call = calling({ level: "public" })
  const others = {
    rules: [rule("deny", "other"), rule("ask", "*", { agent: ["bob"] })],
    grants: [grantFor(calling({}), { agentId: "bob" })],
  }
  expect(judge(call, others)).toBe(judge(calling({ level: "moderate", requireExecutionApproval: false })))
})

test("a full window denies with when to try again, before everything else", () => {
  const limit = { ok: false as const, sentence: "Rate limit exceeded: 1 calls per minute", retryAfterMs: 12_000 }
  const verdict = judge(calling({ level: "public" }, { limit }), { rules: [rule("deny", "*", { because: "No." })] })
  expect(verdict).toMatchObject({ verdict: "deny", code: "rate_limited", retryAfterMs: 12_000 })
  expect(verdict.reasons).toMatchObject([
    { check: "limit", code: "rate_limited", sentence: limit.sentence },
    { check: "rule", code: "rule_denies" },
  ])
})

test("every rule that denies is named with its place", () => {
  const rules = [rule("deny", "probe", { because: "One" }), rule("allow", "*"), rule("deny", "*", { because: "Two!" })]
  expect(judge(calling({ level: "public" }), { rules })).toMatchObject({
    verdict: "deny",
    code: "permission_denied",
    reasons: [
      { check: "rule", source: rules[0]!.source, code: "rule_denies" },
      { check: "rule", source: rules[2]!.source, code: "rule_denies" },
    ],
  })
})

const writing = (what: string) => ({ list: [{ kind: "write" as const, what }], proved: true })

test.each([
  ["src/a.ts", "allow"],
  ["docs/a.md", "ask"],
  [".git/config", "deny"],
])("the path a call names decides: %s is %s", (path, verdict) => {
  const tool = registered({ name: "write_file", effect: "write", touches: true })
  const rules = [rule("deny", "*", { touching: ["write:.git/**"] }), rule("allow", "*", { touching: ["file:src/**"] })]
  expect(judge(facts({ tool, input: { path }, touches: writing(path) }), { rules }).verdict).toBe(verdict)
})

test("a rule that asks binds: neither an allow rule nor a remembered yes nor the mode edits lifts it", () => {
  const tool = registered({ group: "workspace", effect: "write", permission: { level: "public" } })
  const call = facts({ tool })
  const ask = rule("ask", "*", { because: "It is seen." })
  const { verdict, reasons } = judge(call, {
    rules: [rule("allow", "*"), ask],
    grants: [grantFor(call)],
    mode: "edits",
  })
  expect(verdict).toBe("ask")
  expect(reasons).toMatchObject([{ check: "rule", source: ask.source, code: "rule_asks", binding: true }])
})

test("touches that could not be proved ask, whatever allows; a tool that declares none is not asked about them", () => {
  const permission = { level: "public" as const }
  const touches = { list: [], proved: false }
  const call = facts({ tool: registered({ touches: true, permission }), touches })
  const { verdict, reasons } = judge(call, { rules: [rule("allow", "*")], grants: [grantFor(call)] })
  expect([verdict, reasons.length]).toEqual(["ask", 1])
  expect(reasons[0]).toMatchObject({ check: "guard", source: "system:probe@1.0.0", binding: true })
  expect(judge(facts({ tool: registered({ permission }), touches })).verdict).toBe("allow")
})

test("the model's own request for a confirmation can only raise the verdict", () => {
  const confirmed = (level: "public" | "moderate", require_confirmation: boolean) =>
    judge(calling({ level }, { input: { require_confirmation } }), { rules: [] })
  expect(confirmed("public", true)).toMatchObject({
    verdict: "ask",
    reasons: [{ check: "confirmation", binding: true }],
  })
  expect(confirmed("public", false).verdict).toBe("allow")
  expect(confirmed("moderate", false).verdict).toBe("ask")
  const allowed = judge(calling({ level: "public" }, { input: { require_confirmation: true } }), {
    rules: [rule("allow", "*")],
  })
  expect(allowed.verdict).toBe("ask")
})

test("an allow rule covers moderate and sensitive tools, and the reasons say so", () => {
  const allow = rule("allow", "probe", { because: "It is harmless." })
  for (const permission of [
    { level: "moderate" },
    { level: "sensitive" },
    { level: "public", requireExecutionApproval: true },
  ] as const) {
    expect(judge(calling(permission), { rules: [rule("allow", "other"), allow, rule("allow", "*")] })).toMatchObject({
      verdict: "allow",
      reasons: [{ check: "rule", source: allow.source, code: "rule_allows" }],
    })
  }
  expect(judge(calling({ level: "public" }), { rules: [allow] })).toEqual({ verdict: "allow", reasons: [] })
})

test("a moderate tool asks the first time; a remembered yes answers the next", () => {
  const call = calling({ level: "moderate" })
  expect(judge(call).verdict).toBe("ask")
  const grant = grantFor(call, { words: "Agent ada may call probe" })
  expect(judge(call, { grants: [grant] })).toMatchObject({
    verdict: "allow",
    reasons: [{ check: "grant", source: "grant g1", code: "remembered_yes" }],
  })
  const asks = calling({ level: "public", requireExecutionApproval: true })
  expect(judge(asks, { grants: [grantFor(asks)] }).verdict).toBe("allow")
})

test("a remembered yes is never for a sensitive tool or a binding ask, and never beats a deny", () => {
  const sensitive = calling({ level: "sensitive" })
  expect(judge(sensitive, { grants: [grantFor(sensitive)] }).verdict).toBe("ask")
  const call = calling({ level: "moderate" })
  const grants = [grantFor(call)]
  expect(judge(call, { grants, rules: [rule("ask", "*")] }).verdict).toBe("ask")
  expect(judge(call, { grants, rules: [rule("deny", "*")] }).verdict).toBe("deny")
  expect(
    judge({ ...call, input: { require_confirmation: true } }, { grants: [grantFor(call, { scope: "tool-always" })] })
      .verdict,
  ).toBe("ask")
})

test("a remembered no denies as a rejection, also what is public or allowed by a rule", () => {
  const call = calling({ level: "public" })
  const no = grantFor(call, { verdict: "deny", reason: "Not on Fridays" })
  expect(judge(call, { grants: [no], rules: [rule("allow", "*")] })).toMatchObject({
    verdict: "deny",
    code: "approval_rejected",
    reasons: [
      {
        check: "grant",
        source: "grant g1",
        code: "remembered_no",
      },
    ],
  })
  expect(judge(call, { grants: [no], rules: [rule("deny", "*")] }).code).toBe("permission_denied")
})

test("what several rules ask for adds up: every approver, the shortest deadline, the strictest release", () => {
  const rules = [
    rule("ask", "*", { approvers: { count: 2 }, deadline: 10 }),
    rule("ask", "probe", { approvers: { role: "lead", count: 1 }, deadline: 0.5, release: "on-error" }),
    rule("ask", "probe", { release: "always" }),
    rule("ask", "other", { approvers: { count: 9 }, deadline: 0.1 }),
  ]
  expect(judge(calling({ level: "moderate" }), { rules })).toMatchObject({
    verdict: "ask",
    approvers: [{ count: 2 }, { role: "lead", count: 1 }],
    deadlineMs: 30_000,
    release: "always",
  })
})

test.each(["always", "on-error"] as const)(
  "a rule about the result does not ask about the run: release %s",
  (release) => {
    const ask = rule("ask", "*", { release, because: "It is read first." })
    const verdict = judge(calling({ level: "public" }), { rules: [ask] })
    expect(verdict).toMatchObject({ verdict: "allow", release, reasons: [{ check: "rule", source: ask.source }] })
    expect(verdict.reasons[0]).not.toHaveProperty("binding")
    expect(judge(calling({ level: "moderate" }), { rules: [ask] })).toMatchObject({
      verdict: "ask",
      release,
      reasons: [{ check: "level" }, { check: "rule" }],
    })
  },
)

/** A call of a sensitive tool that bubblewrap holds and whose touches are not proved. */
const unprovedCall = (permission: ToolPermission = {}, input: object = {}) =>
  heldCall(
    facts({
      tool: registered({ effect: "execute", touches: true, permission: { level: "sensitive", ...permission } }),
      touches: { list: [{ kind: "command", what: "make $X" }], proved: false },
      input,
    }),
  )

test.each<[string, DecisionInput, Policy, string]>([
  ["it runs", unprovedCall(), {}, "allow"],
  ["the call's own request for a confirmation", unprovedCall({}, { requireConfirmation: true }), {}, "ask"],
  ["requireExecutionApproval", unprovedCall({ requireExecutionApproval: true }), {}, "ask"],
  ["requireConfirmation of the tool", unprovedCall({ requireConfirmation: true }), {}, "ask"],
  ["a dangerous tool", unprovedCall({ dangerous: true }), {}, "ask"],
  ["a rule that asks", unprovedCall(), { rules: [rule("ask", "probe")] }, "ask"],
  ["a rule that denies", unprovedCall(), { rules: [rule("deny", "probe", { args: { "": "*" } })] }, "deny"],
  ["the mode plan", unprovedCall(), { mode: "plan" }, "deny"],
  ["a remembered no", unprovedCall(), { grants: [grantFor(unprovedCall(), { verdict: "deny" })] }, "deny"],
  ["a rule to deny what it may touch", unprovedCall(), { rules: [rule("deny", "*", { touching: ["read:x"] })] }, "ask"],
  ["a rule to ask what it may touch", unprovedCall(), { rules: [rule("ask", "*", { touching: ["read:x"] })] }, "ask"],
  ["such a rule for another", unprovedCall(), { rules: [rule("deny", "*", { touching: ["read:x"], agent: ["bob"] })] }, "allow"],
  ["such a rule for another tool", unprovedCall(), { rules: [rule("deny", "other", { touching: ["read:x"] })] }, "allow"],
  ["such a rule for another input", unprovedCall(), { rules: [rule("deny", "*", { touching: ["read:x"], args: { "/a": "b" } })] }, "allow"],
  ["such a rule that allows", unprovedCall(), { rules: [rule("allow", "*", { touching: ["read:x"] })] }, "allow"],
  ["such a rule in shadow", unprovedCall(), { rules: [rule("deny", "*", { touching: ["read:x"], shadow: true })] }, "allow"],
])("what bubblewrap holds, and %s: %#", (_, call, policy, verdict) => {
  expect(judge(call, policy).verdict).toBe(verdict)
}) // prettier-ignore

test("the ask for what a held call may touch names the rule, and no rule lifts it; once its touches are proved only the rule itself asks", () => {
  const touching = rule("deny", "*", { touching: ["write:db/**"], because: "The database is ours", source: "quartermaster.yml rules[0]" }) // prettier-ignore
  expect(judge(unprovedCall(), { rules: [touching, rule("allow", "*")] })).toMatchObject({
    verdict: "ask",
    reasons: [
      { check: "guard", source: "quartermaster.yml rules[0]", code: "touches_unproved_for_rule", binding: true },
    ],
  })
  const proved = { ...unprovedCall(), touches: { list: [{ kind: "write" as const, what: "x" }], proved: true } }
  expect(judge(proved, { rules: [touching] }).verdict).toBe("allow")
})
