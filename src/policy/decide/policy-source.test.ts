import { expect, test } from "vitest"
import type { SessionMode } from "../../core/organisation.ts"
import type { Grant, Rule } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { PolicySource } from "./policy-source.ts"
import { agent, facts, grantFor, now, registered, rule, tools } from "../testing.ts"

/** A policy over inputs the test can change; it counts how often they are read. */
function open() {
  const state = {
    rules: [] as readonly Rule[],
    grants: [] as Grant[],
    modes: new Map<string, SessionMode>(),
    groups: new Map<string, string>(),
    version: 0,
    toolsVersion: 0,
    reads: 0,
    asked: 0,
    now,
  }
  const policy = new PolicySource({
    rules: () => (state.reads++, state.rules),
    grants: () => state.grants,
    modeOf: (_who, sessionId) => state.modes.get(sessionId) ?? "ask",
    version: () => state.version,
    toolsVersion: () => state.toolsVersion,
    policyVersion: (expired) => `policy ${state.version}${expired === 0 ? "" : `, ${expired} expired`}`,
    now: () => state.now,
    tools: {
      ...tools,
      inGroups: (tool: RegisteredTool, groups) => {
        state.asked++
        return groups === null || groups.includes(state.groups.get(tool.name) ?? tool.group)
      },
    },
  })
  return { policy, state }
}

const call = facts({ tool: registered({ effect: "write" }) })

test("rules, grants and modes count as soon as they exist", () => {
  const { policy, state } = open()
  expect(policy.decide(call).verdict).toBe("ask")
  state.grants.push(grantFor(call))
  state.version++
  expect(policy.decide(call).verdict).toBe("allow")
  state.modes.set("s1", "plan")
  expect(policy.decide(call)).toMatchObject({ verdict: "deny", reasons: [{ check: "mode" }] })
  expect(policy.decide({ ...call, sessionId: "s2" }).verdict).toBe("allow")
  state.rules = [rule("deny", "probe")]
  state.version++
  expect(policy.hiddenByRule(call.tool, call.who)).toMatchObject({ check: "rule" })
  expect(policy.decide({ ...call, sessionId: "s2" }).verdict).toBe("deny")
  state.rules = []
  state.version++
  expect(policy.hiddenByRule(call.tool, call.who)).toBeUndefined()
  expect(policy.version).toBe("policy 3")
})

test("nothing is read again while nothing changed", () => {
  const { policy, state } = open()
  state.rules = [rule("ask", "group:data")]
  for (let index = 0; index < 5; index++) {
    policy.decide(call)
    policy.hiddenByRule(call.tool, call.who)
  }
  expect([state.reads, state.asked]).toEqual([1, 1])
  state.version++
  policy.decide(call)
  // The rules are the same, so what was found out about them still holds.
  expect([state.reads, state.asked]).toEqual([2, 1])
})

test("a tool that changes its group is judged by its new group at once", () => {
  const { policy, state } = open()
  state.rules = [rule("deny", "group:secret")]
  expect(policy.hiddenByRule(call.tool, call.who)).toBeUndefined()
  state.groups.set("probe", "secret")
  state.toolsVersion++
  expect(policy.hiddenByRule(call.tool, call.who)).toBeDefined()
})

test("a tool that a rule hides is visible again when the rule has expired, and the policy has another version", () => {
  const { policy, state } = open()
  state.rules = [rule("deny", "probe", { expiresAt: new Date(now + 1).toISOString() })]
  expect(policy.hiddenByRule(call.tool, call.who)).toMatchObject({ check: "rule" })
  expect(policy.version).toBe("policy 0")
  state.now = now + 1
  expect(policy.hiddenByRule(call.tool, call.who)).toBeUndefined()
  expect(policy.version).toBe("policy 0, 1 expired")
})

test("explain reads the same rules, grants and modes", () => {
  const { policy, state } = open()
  const asked = { ...call, agentId: "ada" }
  expect(policy.explain(asked, "asc")).toMatchObject({ verdict: "ask", policy: "policy 0" })
  state.rules = [rule("deny", "probe", { agent: ["ada"] })]
  state.version++
  expect(policy.explain(asked, "asc")).toMatchObject({
    verdict: "deny",
    code: "tool_not_available",
    policy: "policy 1",
  })
  const who = agent({ id: "bob", level: 1 })
  const tool = registered({ effect: "none", permission: { minLevel: 0 } })
  expect(policy.explain({ ...asked, agentId: "bob", who, tool }, "desc")).toMatchObject({
    reasons: [{ check: "level" }],
  })
})
