import { expect, test } from "vitest"
import { agent, registered, role } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { groupCheck } from "./group.ts"

const tool = registered({ effect: "none" })

test.each([[["network"]], [[]]])("an agent with the groups %j lacks a tool of the group data", (groups) => {
  expect(
    lookVisible(groupCheck, tool, agent({ groups, role: role("developer", { toolGroups: groups }) })),
  ).toMatchObject([
    { check: "group", source: "role developer", code: "group_missing", params: { role: "developer", group: "data" } },
  ])
})

test("an agent whose role has the group, and an agent above it has not, is not told to give the role that group", () => {
  const who = agent({ groups: ["network"], role: role("developer", { toolGroups: ["network", "data"] }) })
  expect(lookVisible(groupCheck, tool, who)).toMatchObject([{ code: "group_above_missing", fix: undefined }])
})

test.each([[["network", "data"]], [null]])("an agent with the groups %j has it", (groups) => {
  expect(lookVisible(groupCheck, tool, agent({ groups }))).toEqual([])
})

const withGroups = (toolGroups: string[], madeBy: "configuration" | "person") =>
  agent({ role: role("tester", { toolGroups, madeBy }) })

test.each([
  ["a role of a person", withGroups(["system", "network"], "person"), "qm roles update tester --groups system,network,data"],
  ["a role of the configuration", withGroups(["system"], "configuration"), "In org.roles, for role tester: toolGroups: [system, data]"],
  ["root", agent({ id: "root", role: role("root", { toolGroups: ["org_management"] }) }), "Call it as another agent: root can only organise"],
])("the fix for %s", (_, who, fix) => {
  expect(lookVisible(groupCheck, tool, who)).toMatchObject([{ fix }])
}) // prettier-ignore
