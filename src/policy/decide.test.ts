import { expect, test } from "vitest"
import type { SessionMode } from "../model/organisation.ts"
import type { ToolPermission } from "../model/permission.ts"
import type { Facts } from "../model/ports.ts"
import type { Grant, Rule } from "../model/rule.ts"
import { decide } from "./decide.ts"
import { fits, GrantIndex } from "./grants.ts"
import { compile } from "./rules.ts"
import { agent, facts, grantFor, now, registered, rule, tools } from "./testing.ts"

interface Policy {
  rules?: readonly Rule[]
  grants?: readonly Grant[]
  mode?: SessionMode
}

const judge = (call: Facts, { rules = [], grants = [], mode = "ask" }: Policy = {}) =>
  decide(call, compile(rules, tools), new GrantIndex(grants), mode)

const calling = (permission: ToolPermission, change: Partial<Facts> = {}) =>
  facts({ tool: registered({ effect: "write", permission }), ...change })

const level = (sentence: string) => ({ voice: "level", source: "system:probe@1.0.0", sentence })
const everyCall = level("Tool probe is sensitive: a person agrees to every call.")
const first = level("Tool probe is moderate: a person agrees first.")
const before = level("Tool probe asks for approval before it runs.")

test.each<[ToolPermission, object | undefined]>([
  [{ level: "public" }, undefined],
  [{ level: "moderate" }, first],
  [{ level: "sensitive" }, everyCall],
  [{ level: "public", requireExecutionApproval: true }, before],
  [{ level: "moderate", requireExecutionApproval: true }, before],
  [{ level: "sensitive", requireExecutionApproval: true }, everyCall],
  [{ level: "public", requireExecutionApproval: false }, undefined],
  [{ level: "moderate", requireExecutionApproval: false }, undefined],
  [{ level: "sensitive", requireExecutionApproval: false }, everyCall],
  [{ level: "public", dangerous: true }, everyCall],
  [{ level: "public", requireConfirmation: true, requireExecutionApproval: false }, everyCall],
  [{}, first],
])("%j asks %j [S1-25] [S1-27] [S1-28]", (permission, reason) => {
  expect(judge(calling(permission))).toEqual(
    reason === undefined ? { verdict: "allow", reasons: [] } : { verdict: "ask", reasons: [reason] },
  )
})

test("an allowed call needs confirmation exactly when its tool is dangerous or asks for it [S2-93]", () => {
  for (const dangerous of [false, true]) {
    for (const requireConfirmation of [false, true]) {
      const { verdict } = judge(calling({ level: "public", dangerous, requireConfirmation }))
      expect(verdict).toBe(dangerous || requireConfirmation ? "ask" : "allow")
    }
  }
})

test("nothing to say costs nothing: the same verdict is given each time", () => {
  const call = calling({ level: "public" })
  const others = {
    rules: [rule("deny", "other"), rule("ask", "*", { agent: ["bob"] })],
    grants: [grantFor(calling({}), { agentId: "bob" })],
  }
  expect(judge(call, others)).toBe(judge(calling({ level: "moderate", requireExecutionApproval: false })))
})

test("a full window denies with when to try again, before everything else [S2-91]", () => {
  const limit = { ok: false as const, sentence: "Rate limit exceeded: 1 calls per minute", retryAfterMs: 12_000 }
  const verdict = judge(calling({ level: "public" }, { limit }), { rules: [rule("deny", "*", { because: "No." })] })
  expect(verdict).toMatchObject({ verdict: "deny", code: "rate_limited", retryAfterMs: 12_000 })
  expect(verdict.reasons).toMatchObject([
    { voice: "limit", source: "system:probe@1.0.0", sentence: limit.sentence },
    { voice: "rule", sentence: "A rule denies it: No." },
  ])
})

test("every rule that denies is named with its place and its words", () => {
  const rules = [rule("deny", "probe", { because: "One" }), rule("allow", "*"), rule("deny", "*", { because: "Two!" })]
  expect(judge(calling({ level: "public" }), { rules })).toEqual({
    verdict: "deny",
    code: "permission_denied",
    reasons: [
      { voice: "rule", source: rules[0]!.source, sentence: "A rule denies it: One." },
      { voice: "rule", source: rules[2]!.source, sentence: "A rule denies it: Two!" },
    ],
  })
})

const writing = (what: string) => ({ list: [{ kind: "write" as const, what }], proved: true })

test.each([
  ["src/a.ts", "allow"],
  ["docs/a.md", "ask"],
  [".git/config", "deny"],
])("the path a call names decides: %s is %s [S2-92]", (path, verdict) => {
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
  const sentence = "A rule asks a person first: It is seen."
  expect(reasons).toEqual([{ voice: "rule", source: ask.source, sentence, binding: true }])
})

test("touches that could not be proved ask, whatever allows; a tool that declares none is not asked about them", () => {
  const permission = { level: "public" as const }
  const touches = { list: [], proved: false }
  const call = facts({ tool: registered({ touches: true, permission }), touches })
  const { verdict, reasons } = judge(call, { rules: [rule("allow", "*")], grants: [grantFor(call)] })
  expect([verdict, reasons.length]).toEqual(["ask", 1])
  expect(reasons[0]).toMatchObject({ voice: "guard", source: "system:probe@1.0.0", binding: true })
  expect(judge(facts({ tool: registered({ permission }), touches })).verdict).toBe("allow")
})

test.each<[unknown, string]>([
  [{ require_confirmation: true }, "ask"],
  [{ requireConfirmation: true }, "ask"],
  [{ require_confirmation: false }, "allow"],
  [{ require_confirmation: "true" }, "allow"],
  [{ nested: { require_confirmation: true } }, "allow"],
  [null, "allow"],
  [Object.create({ require_confirmation: true }), "allow"],
])("the model's own wish %j can only raise: %s [C-17]", (input, verdict) => {
  const said = judge(calling({ level: "public" }, { input }), { rules: [rule("allow", "*")] })
  expect(said.verdict).toBe(verdict)
  if (verdict === "ask") expect(said.reasons).toMatchObject([{ voice: "wish", binding: true }])
  const lowered = judge(calling({ level: "moderate" }, { input: { require_confirmation: false } }))
  expect(lowered.verdict).toBe("ask")
})

test("an allow rule covers moderate and sensitive tools, and the reasons say so", () => {
  const allow = rule("allow", "probe", { because: "It is harmless." })
  for (const permission of [
    { level: "moderate" },
    { level: "sensitive" },
    { level: "public", requireExecutionApproval: true },
  ] as const) {
    const sentence = "A rule allows it: It is harmless."
    expect(judge(calling(permission), { rules: [rule("allow", "other"), allow, rule("allow", "*")] })).toEqual({
      verdict: "allow",
      reasons: [{ voice: "rule", source: allow.source, sentence }],
    })
  }
  expect(judge(calling({ level: "public" }), { rules: [allow] })).toEqual({ verdict: "allow", reasons: [] })
})

test("a moderate tool asks the first time; a remembered yes answers the next [S1-26] [S1-33]", () => {
  const call = calling({ level: "moderate" })
  expect(judge(call).verdict).toBe("ask")
  const grant = grantFor(call, { words: "Agent ada may call probe" })
  const sentence = "ann said yes, and it is remembered: Agent ada may call probe."
  expect(judge(call, { grants: [grant] })).toEqual({
    verdict: "allow",
    reasons: [{ voice: "grant", source: "grant g1", sentence }],
  })
  const asks = calling({ level: "public", requireExecutionApproval: true })
  expect(judge(asks, { grants: [grantFor(asks)] }).verdict).toBe("allow")
})

test("a remembered yes is never for a sensitive tool or a binding ask, and never beats a deny [S1-27]", () => {
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
  expect(judge(call, { grants: [no], rules: [rule("allow", "*")] })).toEqual({
    verdict: "deny",
    code: "approval_rejected",
    reasons: [{ voice: "grant", source: "grant g1", sentence: "ann said no, and it is remembered: Not on Fridays." }],
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
    expect(verdict).toMatchObject({ verdict: "allow", release, reasons: [{ voice: "rule", source: ask.source }] })
    expect(verdict.reasons[0]).not.toHaveProperty("binding")
    expect(judge(calling({ level: "moderate" }), { rules: [ask] })).toMatchObject({
      verdict: "ask",
      release,
      reasons: [{ voice: "level" }, { voice: "rule" }],
    })
  },
)

test.each([
  ["none", "allow"],
  ["read", "allow"],
  ["write", "deny"],
  ["execute", "deny"],
  ["network", "deny"],
  ["communicate", "deny"],
  [undefined, "deny"],
] as const)("in the mode plan a tool with the effect %s gets: %s", (effect, verdict) => {
  const tool = registered({ ...(effect ? { effect } : {}), permission: { level: "public" } })
  const said = judge(facts({ tool }), { mode: "plan", rules: [rule("allow", "*")] })
  expect(said.verdict).toBe(verdict)
  if (verdict === "deny")
    expect(said).toMatchObject({ code: "permission_denied", reasons: [{ voice: "mode", source: "session s1" }] })
  const question = registered({ kind: "interactive", ...(effect ? { effect } : {}), permission: { level: "public" } })
  expect(judge(facts({ tool: question }), { mode: "plan" }).verdict).toBe("allow")
})

test("the mode edits allows writes of the workspace whose touches are proved, and nothing else", () => {
  const workspace = { group: "workspace", effect: "write", touches: true, permission: { level: "sensitive" } } as const
  const touches = writing("src/a")
  const edits = (change: object, proved = true) =>
    judge(facts({ tool: registered({ ...workspace, ...change }), touches: { ...touches, proved } }), { mode: "edits" })
  expect(edits({})).toMatchObject({ verdict: "allow", reasons: [{ voice: "mode", source: "session s1" }] })
  expect(edits({ group: "command" }).verdict).toBe("ask")
  expect(edits({ effect: "execute" }).verdict).toBe("ask")
  expect(edits({}, false).verdict).toBe("ask")
  expect(edits({ touches: false }, false).verdict).toBe("ask")
  expect(judge(facts({ tool: registered(workspace), touches }), { mode: "ask" }).verdict).toBe("ask")
})

const shown = {
  list: [
    { kind: "write" as const, what: "a" },
    { kind: "write" as const, what: "b" },
  ],
  proved: true,
}
const remembered = calling(
  { level: "moderate" },
  { tool: registered({ effect: "write", touches: true }), input: { n: 1, m: 2 }, touches: shown },
)
const spawned = { ...agent({ id: "kid" }), spawners: [remembered.who] }

test.each<[string, Partial<Grant>, Partial<Facts>]>([
  ["another agent", { agentId: "bob" }, {}],
  ["the agent it spawned", {}, { who: spawned }],
  ["another tool", { tool: "prob" }, {}],
  ["another definition", { definitionHash: "other" }, {}],
  ["another workspace", { workspace: "/other" }, {}],
  ["the moment it ends", { expiresAt: now }, {}],
  ["a call after it", { expiresAt: now - 1 }, {}],
  ["another session, for the tool", { scope: "tool-session", sessionId: "s2" }, {}],
  ["another session, for the input", { scope: "input-session", sessionId: "s2" }, {}],
  ["no session", { scope: "tool-session", sessionId: undefined }, {}],
  ["another input", { scope: "input-session" }, { input: { n: 2 } }],
  ["no input", { scope: "input-session", inputDigest: undefined }, {}],
  ["a touch that was not shown", { touches: shown.list.slice(1) }, {}],
  ["another kind of touch", { touches: shown.list.map(({ what }) => ({ kind: "read" as const, what })) }, {}],
  ["a touch more", {}, { touches: { list: [...shown.list, { kind: "host" as const, what: "a" }], proved: true } }],
])("a yes that fits is not for %s [S1-33]", (_, change, call) => {
  for (const scope of ["input-session", "tool-session", "tool-always"] as const) {
    expect(judge(remembered, { grants: [grantFor(remembered, { scope })] }).verdict).toBe("allow")
  }
  expect(judge({ ...remembered, ...call }, { grants: [grantFor(remembered, change)] }).verdict).toBe("ask")
  expect(fits(grantFor(remembered, change), { ...remembered, ...call })).toBe(false)
})

test.each<[string, Partial<Grant>, Partial<Facts>]>([
  ["fewer touches", {}, { touches: { list: shown.list.slice(1), proved: true } }],
  ["no end", { expiresAt: null }, {}],
  ["another input, for the tool", { scope: "tool-session" }, { input: { n: 2 } }],
  ["the same input in another order", { scope: "input-session" }, { input: { m: 2, n: 1 } }],
  ["another session, for always", { scope: "tool-always", sessionId: "s2" }, { sessionId: "s3" }],
])("a yes is also for %s", (_, change, call) => {
  expect(judge({ ...remembered, ...call }, { grants: [grantFor(remembered, change)] }).verdict).toBe("allow")
})

test("a remembered no is also for a call that touches more, not for one that touches nothing that was shown", () => {
  const grants = [grantFor(remembered, { verdict: "deny" })]
  const touching = (...names: string[]) => ({
    list: names.map((what) => ({ kind: "write" as const, what })),
    proved: true,
  })
  expect(judge({ ...remembered, touches: touching("a", "c") }, { grants }).code).toBe("approval_rejected")
  expect(judge({ ...remembered, touches: touching("c") }, { grants }).verdict).toBe("ask")
})

test("of several answers one that fits is enough", () => {
  const grants = [grantFor(remembered, { expiresAt: now }), grantFor(remembered, { id: "g2" })]
  expect(judge(remembered, { grants }).reasons).toMatchObject([{ source: "grant g2" }])
})

test("a tool that only reads with this input is not asked for by its level, unless a person wants to be asked", () => {
  const onlyReads = (input: unknown) => (input as { preview?: boolean }).preview === true
  const verdictOf = (permission: ToolPermission, preview: boolean, mode: SessionMode = "ask") =>
    judge(facts({ tool: registered({ effect: "write", permission, onlyReads }), input: { preview } }), { mode }).verdict
  expect(verdictOf({ level: "sensitive" }, true)).toBe("allow")
  expect(verdictOf({ level: "sensitive" }, false)).toBe("ask")
  expect(verdictOf({ level: "sensitive", requireExecutionApproval: true }, true)).toBe("ask")
  expect(verdictOf({ level: "public" }, true, "plan")).toBe("allow")
  expect(verdictOf({ level: "public" }, false, "plan")).toBe("deny")
})
