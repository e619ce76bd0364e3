import { expect, test } from "vitest"
import type { AgentView } from "../../core/organisation.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { PolicySource } from "../decide/policy-source.ts"
import { agent, registered, role, rule, tools as groups } from "../testing.ts"
import { hiddenBecause } from "../decide/visible.ts"

const cake = registered({ name: "cake", dependsOn: ["oven"], effect: "none" })
const oven = registered({ name: "oven", dependsOn: ["power"], group: "network", effect: "none" })
const power = registered({ name: "power", effect: "none" })

function registry(list: readonly RegisteredTool[], rules: Parameters<typeof rule>[] = []) {
  const tools = { ...groups, resolve: (name: string) => list.find((one) => one.name === name) }
  const written = rules.map((given) => rule(...given))
  const policy = new PolicySource({
    rules: () => written,
    grants: () => [],
    modeOf: () => "ask",
    version: () => 1,
    tools,
    toolsVersion: () => 1,
    policyVersion: () => "1",
    now: Date.now,
  })
  return (who: AgentView, tool = cake) => {
    const hidden = hiddenBecause(tool, who, tools, "asc", policy)
    const asked = { agentId: who.agent.id, who, tool, input: {}, touches: { list: [], proved: true }, limit: { ok: true }, sessionId: "s", workspace: "/", at: 0 } as const // prettier-ignore
    const explained = policy.explain(asked, "asc")
    expect(explained.verdict === "deny").toBe(hidden !== undefined)
    if (hidden !== undefined) expect(explained.reasons).toContainEqual(hidden)
    return { hidden, explained }
  }
}

const all = [cake, oven, power]
const baker = agent({ role: role("tester", { toolGroups: ["data", "network"] }), groups: ["data", "network"] })

test("a tool is visible to an agent that may use all it needs, and qm why says so", () => {
  const { hidden, explained } = registry(all)(baker)
  expect(hidden).toBeUndefined()
  expect(explained.checks).toContainEqual({
    check: "dependency",
    source: cake.id,
    code: "passes",
    sentence: "The agent has what the tool needs: oven.",
    verdict: "pass",
  })
})

test.each<[string, readonly RegisteredTool[], AgentView, Parameters<typeof rule>[], string, string]>([
  ["in a group it has not", all, { ...baker, groups: ["data"] }, [], "group_above_missing", "See first: qm why oven --agent ada"],
  ["denied by a rule", all, baker, [["deny", "oven", { source: "rule r1" }]], "rule_denies", "qm rules remove r1"],
  ["in need of something denied by a rule", all, baker, [["deny", "power", { source: "rule r1" }]], "dependency_not_allowed", "qm rules remove r1"],
  ["provided for others only", [cake], baker, [], "dependency_for_others", "See first: qm why oven --agent ada"],
  ["for another role", [cake, { ...oven, permission: { ...oven.permission, allowedRoles: ["chef"] } }, power], baker, [], "role_not_allowed", "tools.permissions.oven.allowedRoles: [chef, tester]"],
  ["closed to an agent above", all, { ...baker, ancestors: [agent({ id: "boss", groups: ["data"] })] }, [], "parent_not_allowed", "See first: qm why oven --agent boss"],
])("a tool is hidden when what it needs is %s", (_, list, who, rules, because, fix) => {
  const { hidden, explained } = registry(list, rules)(who)
  expect(hidden).toMatchObject({ check: "dependency", source: cake.id, params: { tool: "cake", needs: "oven", because } })
  expect(explained.change).toEqual([fix])
}) // prettier-ignore

test("a tool that needs an unregistered tool says so, and not that it is switched off", () => {
  const lacking = { ...cake, enabled: false, missingDependencies: ["oven"] }
  const { hidden, explained } = registry([lacking])(baker, lacking)
  expect(hidden).toMatchObject({ code: "dependency_not_registered", params: { tool: "cake", needs: "oven" } })
  expect(explained.change).toEqual(["Load the plugin, module or server that has oven"])
  const off = { ...cake, enabled: false, missingDependencies: [] }
  expect(registry(all)(baker, off).hidden?.check).toBe("configuration")
})

test("tools that need each other in a circle by other names are still decided", () => {
  const one = registered({ name: "one", dependsOn: ["Two"] })
  const two = registered({ name: "two", dependsOn: ["One"] })
  const tools = { ...groups, resolve: (name: string) => [one, two].find((each) => each.name === name.toLowerCase()) }
  expect(hiddenBecause(one, baker, tools, "asc")).toBeUndefined()
})
