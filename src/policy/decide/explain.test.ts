import { expect, test } from "vitest"
import type { Explanation } from "../explanation.ts"
import { explain } from "./explain.ts"
import { agent, facts, grantFor, registered, rule } from "../testing.ts"
import { policyState, why, verdictFromChecks, call } from "../testing/explain.ts"

const denying = rule("deny", "*", { args: { "/n": "1" }, source: "quartermaster.yml rules[3]" })
const asking = rule("ask", "*", { source: "quartermaster.yml rules[4]" })
const allowing = rule("allow", "*", { source: "quartermaster.yml rules[5]" })
const no = grantFor(call, { verdict: "deny" })
const approve = "Approve it when it waits: qm approvals approve <id>"

test.each<[string, Explanation, string[]]>([
  ["a moderate tool", why(call), [`${approve} --remember tool-session`, `qm rules add '{"allow":"set_env","agent":"ada","because":"<why>"}'`]],
  ["a sensitive tool", why(facts({ tool: registered({ effect: "execute" }) })), [approve, `qm rules add '{"allow":"probe","agent":"ada","because":"<why>"}'`]],
  ["an ask rule, which alone decides", why(call, policyState([asking])), [approve, "Change or remove the rule at quartermaster.yml rules[4]"]],
  ["a confirmation", why({ ...call, input: { require_confirmation: true } }), [approve, "Leave out require_confirmation"]],
  ["a public tool", why(facts({ tool: registered({ effect: "none" }) }), policyState([allowing])), [`qm rules add '{"ask":"probe","because":"<why>"}'`]],
  ["everything that loosens", why(call, policyState([allowing], [grantFor(call)])), ["Change or remove the rule at quartermaster.yml rules[5]", "qm grants revoke g1"]],
  ["everything that denies", why({ ...call, input: { n: 1 } }, policyState([denying, allowing], [no])), ["Change or remove the rule at quartermaster.yml rules[3]", "qm grants revoke g1"]],
])("for %s it says what would change the verdict", (_, { change }, expected) => {
  expect(change).toEqual(expected)
}) // prettier-ignore

test("a rule that hides the tool is shown once", () => {
  const { checks, reasons } = why(call, policyState([rule("deny", "*", { source: "rule r1" })]))
  expect(checks.filter(({ verdict }) => verdict === "deny")).toMatchObject([{ source: "rule r1" }])
  expect(reasons).toHaveLength(1)
})

test("an agent that is not known is to be created, and no other check looks", () => {
  const { who: _who, ...rest } = call
  expect(explain({ ...rest, agentId: "ghost", who: undefined }, policyState())).toMatchObject({
    agentId: "ghost",
    verdict: "deny",
    code: "tool_not_available",
    reasons: [{ check: "agent" }],
    checks: [{ check: "agent", verdict: "deny" }],
    change: ["qm agents create ghost --role <role>"],
  })
})

test("the results of all checks come in order, also of those that pass", () => {
  const rules = [
    denying,
    asking,
    allowing,
    rule("deny", "*", { shadow: true }),
    rule("ask", "*", { release: "always" }),
  ]
  const { checks, release, approvers } = why(
    call,
    policyState(rules, [grantFor(call), { ...no, scope: "tool-session", sessionId: "s2" }]),
  )
  const expected = [
    "agent pass",
    "freeze pass",
    "configuration pass",
    "group pass",
    "role pass",
    "department pass",
    "level pass",
    "limit pass",
    "rule pass",
    "mode pass",
    "grant pass",
    "rule ask",
    "level ask",
    "rule allow",
    "grant allow",
    "rule pass",
    "rule pass",
  ]
  const names = new Set(expected.map((each) => each.split(" ")[0]))
  const known = checks.filter(({ check }) => names.has(check))
  expect(known.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual(expected)
  expect([release, approvers]).toEqual(["always", []])
  expect(checks.every(({ sentence }) => /[.!?]$/.test(sentence))).toBe(true)
})

test("a frozen agent's call would end as frozen, and the tool's own release counts where no rule says more", () => {
  const tool = registered({ effect: "none", permission: { requireResultApproval: "on-error" } })
  expect(why({ ...call, who: agent({ frozen: { by: "ann", at: 0 } }) })).toMatchObject({
    verdict: "deny",
    code: "frozen",
  })
  expect(why(facts({ tool }))).toMatchObject({ release: "on-error", policy: "v1", touches: { proved: true } })
})

test("a question waits for its answer whatever allows it, and what asks or denies besides decides as ever", () => {
  const tool = { ...registered({ name: "ask_user", effect: "none" }), question: () => ({ question: "Which?" }) }
  const call = facts({ tool })
  for (const rules of [[], [rule("allow", "*")]]) {
    const explained = why(call, policyState(rules))
    expect(explained).toMatchObject({ verdict: "ask", reasons: [{ check: "tool", code: "question" }] })
    expect(explained.checks).toContainEqual(expect.objectContaining({ code: "question", verdict: "ask" }))
    expect(explained.change).toEqual(["Answer it when it waits: qm approvals answer <id>"])
    expect(verdictFromChecks(explained)).toBe("ask")
  }
  expect(why(call, policyState([rule("ask", "*")]))).toMatchObject({ verdict: "ask", reasons: [{ check: "rule" }] })
  expect(why(call, policyState([rule("deny", "*", { args: { "": "*" } })])).verdict).toBe("deny")
})
