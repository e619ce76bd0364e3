import { expect, test } from "vitest"
import type { AgentView } from "../model/organisation.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { PolicyBook } from "./book.ts"
import { agent, registered, role, rule, tools as groups } from "./testing.ts"
import { hiddenBecause } from "./visible.ts"

const cake = registered({ name: "cake", dependsOn: ["oven"], effect: "none" })
const oven = registered({ name: "oven", dependsOn: ["power"], group: "network", effect: "none" })
const power = registered({ name: "power", effect: "none" })

function house(list: readonly RegisteredTool[], rules: Parameters<typeof rule>[] = []) {
  const tools = { ...groups, resolve: (name: string) => list.find((one) => one.name === name) }
  const written = rules.map((given) => rule(...given))
  const policy = new PolicyBook({
    rules: () => written,
    grants: () => [],
    modeOf: () => "ask",
    version: () => 1,
    tools,
    toolsVersion: () => 1,
    policyVersion: () => "1",
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

test("[S4-96] a tool is visible to an agent that may use all it needs, and qm why says so", () => {
  const { hidden, explained } = house(all)(baker)
  expect(hidden).toBeUndefined()
  expect(explained.heard).toContainEqual({
    voice: "dependency",
    source: cake.id,
    sentence: "The agent has what the tool needs: oven.",
    says: "nothing",
  })
})

test.each<[string, readonly RegisteredTool[], AgentView, Parameters<typeof rule>[], string]>([
  ["in a group it has not", all, { ...baker, groups: ["data"] }, [], "needs oven, which this agent may not use: Role tester has no group"], // prettier-ignore
  ["denied by a rule", all, baker, [["deny", "oven"]], "needs oven, which this agent may not use: "],
  ["in need of something denied by a rule", all, baker, [["deny", "power"]], "needs oven, which this agent may not use: Tool oven needs power, which this agent may not use: "], // prettier-ignore
  ["provided for others only", [cake], baker, [], "needs oven, which this agent may not use: it is provided for others only."], // prettier-ignore
  ["for another role", [cake, { ...oven, permission: { ...oven.permission, allowedRoles: ["chef"] } }, power], baker, [], "Role tester not in allowed roles"], // prettier-ignore
  ["closed to who is above it", all, { ...baker, spawners: [agent({ id: "boss", groups: ["data"] })] }, [], "Agent boss, which is above this one, may not use it"], // prettier-ignore
])("[S4-96] a tool is hidden when what it needs is %s", (_, list, who, rules, sentence) => {
  const { hidden, explained } = house(list, rules)(who)
  expect(hidden).toMatchObject({ voice: "dependency", source: cake.id })
  expect(hidden?.sentence).toContain(sentence)
  expect(explained.change).toEqual(["Give the agent first what the tool needs"])
})

test("[S4-96] a tool that lacks what nobody has registered says so, and not that it is switched off", () => {
  const lacking = { ...cake, enabled: false, lacks: ["oven"] }
  const { hidden, explained } = house([lacking])(baker, lacking)
  expect(hidden?.sentence).toBe("Tool cake needs oven, which nobody has registered. It is off until then.")
  expect(explained.change).toEqual(["Load the plugin, module or server that has oven"])
  const off = { ...cake, enabled: false, lacks: [] }
  expect(house(all)(baker, off).hidden?.voice).toBe("configuration")
})

test("needs that go in a circle by other names still have an answer", () => {
  const one = registered({ name: "one", dependsOn: ["Two"] })
  const two = registered({ name: "two", dependsOn: ["One"] })
  const tools = { ...groups, resolve: (name: string) => [one, two].find((each) => each.name === name.toLowerCase()) }
  expect(hiddenBecause(one, baker, tools, "asc")).toBeUndefined()
})
