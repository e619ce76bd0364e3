import { expect, test } from "vitest"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Grant } from "../../core/rule.ts"
import { grantMatches } from "../grants.ts"
import { agent, facts, grantFor, now, registered } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { rememberedNoCheck } from "./remembered-no.ts"
import { rememberedYesCheck } from "./remembered-yes.ts"

const shown = {
  list: [
    { kind: "write" as const, what: "a" },
    { kind: "write" as const, what: "b" },
  ],
  proved: true,
}
const tool = registered({ effect: "write", touches: true })
const call = facts({ tool, input: { n: 1, m: 2 }, touches: shown })
const child = agent({ id: "kid", ancestors: [call.who] })

const yes = (given: DecisionInput, ...grants: Grant[]) => lookAtCall(rememberedYesCheck, given, { grants })
const no = (given: DecisionInput, ...grants: Grant[]) => lookAtCall(rememberedNoCheck, given, { grants })

test("a remembered yes allows, a remembered no denies as a rejection; the fix revokes the answer", () => {
  const about = { check: "grant", source: "grant g1", params: { grant: "g1", by: "ann" }, fix: "qm grants revoke g1" }
  expect(yes(call, grantFor(call))).toMatchObject([{ ...about, verdict: "allow", code: "remembered_yes" }])
  const denied = grantFor(call, { verdict: "deny" })
  expect(no(call, denied)).toMatchObject([
    { ...about, verdict: "deny", code: "remembered_no", ending: "approval_rejected" },
  ])
  expect([...yes(call, denied), ...no(call, grantFor(call))]).toEqual([])
})

test("a remembered yes is never for a sensitive tool", () => {
  const sensitive = facts({ tool: registered({ effect: "write", permission: { level: "sensitive" } }) })
  expect(yes(sensitive, grantFor(sensitive))).toEqual([])
})

test.each<[string, Partial<Grant>, Partial<DecisionInput>]>([
  ["another agent", { agentId: "bob" }, {}],
  ["the agent it spawned", {}, { who: child }],
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
])("a yes that fits is not for %s", (_, change, other) => {
  for (const scope of ["input-session", "tool-session", "tool-always"] as const)
    expect(yes(call, grantFor(call, { scope }))).toHaveLength(1)
  expect(yes({ ...call, ...other }, grantFor(call, change))).toEqual([])
  expect(grantMatches(grantFor(call, change), { ...call, ...other })).toBe(false)
})

test.each<[string, Partial<Grant>, Partial<DecisionInput>]>([
  ["fewer touches", {}, { touches: { list: shown.list.slice(1), proved: true } }],
  ["no end", { expiresAt: null }, {}],
  ["another input, for the tool", { scope: "tool-session" }, { input: { n: 2 } }],
  ["the same input in another order", { scope: "input-session" }, { input: { m: 2, n: 1 } }],
  ["another session, for always", { scope: "tool-always", sessionId: "s2" }, { sessionId: "s3" }],
])("a yes is also for %s", (_, change, other) => {
  expect(yes({ ...call, ...other }, grantFor(call, change))).toHaveLength(1)
})

test("a remembered no is also for a call that touches more, not for one that touches nothing that was shown", () => {
  const grant = grantFor(call, { verdict: "deny" })
  const touching = (...names: string[]) => ({
    ...call,
    touches: { list: names.map((what) => ({ kind: "write" as const, what })), proved: true },
  })
  expect(no(touching("a", "c"), grant)).toHaveLength(1)
  expect(no(touching("c"), grant)).toEqual([])
})

test("of several answers one that fits is enough", () => {
  expect(yes(call, grantFor(call, { expiresAt: now }), grantFor(call, { id: "g2" }))).toMatchObject([
    { source: "grant g2" },
  ])
})
