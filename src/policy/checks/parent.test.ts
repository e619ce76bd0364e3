import { expect, test } from "vitest"
import type { AgentView } from "../../core/organisation.ts"
import { agent, registered, role } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { checksOf } from "./list.ts"

const parentCheck = checksOf("visible").find(({ name }) => name === "parent")!

test.each<[string, Partial<AgentView>, string, string]>([
  ["group", { groups: ["network"], role: role("developer", { toolGroups: ["network"] }) }, "group_missing", "In org.roles, for role developer: toolGroups: [network, data]"],
  ["role", { role: role("tester") }, "role_not_allowed", "tools.permissions.probe.allowedRoles: [developer, tester]"],
  ["department", { department: "south" }, "department_not_allowed", "tools.permissions.probe.allowedDepartments: [north, south]"],
  ["level", { level: 0 }, "level_below_minimum", "In org.roles, for role developer: level: 1"],
])("a tool hidden from a parent by its %s is hidden from everyone below, and the fix is the parent's", (_, change, because, fix) => {
  const permission = { allowedRoles: ["developer"], allowedDepartments: ["north"], minLevel: 1 }
  const tool = registered({ effect: "none", permission })
  const fine = agent({ department: "north", level: 1 })
  const boss = { ...agent({ id: "boss", department: "north", level: 1 }), ...change }
  expect(lookVisible(parentCheck, tool, { ...fine, ancestors: [fine] })).toEqual([])
  expect(lookVisible(parentCheck, tool, { ...fine, ancestors: [fine, boss] })).toMatchObject([
    { check: "parent", source: "agent boss", code: "parent_not_allowed", params: { agent: "boss", because }, fix },
  ])
}) // prettier-ignore

test("where the parent is held down itself, the fix is to ask why", () => {
  const boss = agent({ id: "boss", groups: ["network"] })
  expect(lookVisible(parentCheck, registered(), agent({ ancestors: [boss] }))).toMatchObject([
    { fix: "See first: qm why probe --agent boss" },
  ])
})
