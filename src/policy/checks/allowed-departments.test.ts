import { expect, test } from "vitest"
import { agent, registered, role } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { allowedDepartmentsCheck } from "./allowed-departments.ts"

const tool = registered({ effect: "none", permission: { allowedDepartments: ["north"] } })

test("an agent of another department lacks the tool", () => {
  expect(lookVisible(allowedDepartmentsCheck, tool, agent({ department: "south" }))).toMatchObject([
    {
      check: "department",
      code: "department_not_allowed",
      params: { department: "south" },
      fix: "tools.permissions.probe.allowedDepartments: [north, south]",
    },
  ])
  expect(lookVisible(allowedDepartmentsCheck, tool, agent({ department: "north" }))).toEqual([])
  expect(lookVisible(allowedDepartmentsCheck, registered(), agent())).toEqual([])
})

test("an agent without a department gets one by its role", () => {
  expect(lookVisible(allowedDepartmentsCheck, tool, agent())).toMatchObject([
    { params: { department: "(none)" }, fix: "In org.roles, for role developer: department: north" },
  ])
  const made = agent({ role: role("helper", { madeBy: "person" }) })
  expect(lookVisible(allowedDepartmentsCheck, tool, made)).toMatchObject([
    { fix: "qm roles update helper --department north" },
  ])
})
