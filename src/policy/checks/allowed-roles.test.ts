import { expect, test } from "vitest"
import { agent, registered, role } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { allowedRolesCheck } from "./allowed-roles.ts"

const open = (allowedRoles: string[]) => registered({ effect: "none", permission: { allowedRoles } })

test("a role that is not in allowedRoles lacks the tool; the fix is the line with it", () => {
  expect(lookVisible(allowedRolesCheck, open(["tester"]), agent())).toMatchObject([
    {
      check: "role",
      source: "system:probe@1.0.0",
      code: "role_not_allowed",
      params: { role: "developer" },
      fix: "tools.permissions.probe.allowedRoles: [tester, developer]",
    },
  ])
  for (const roles of [[], ["tester", "developer"]])
    expect(lookVisible(allowedRolesCheck, open(roles), agent())).toEqual([])
})

test.each(["developer", "DEVELOPER", "role-developer", "Role-Developer"])(
  "'%s' matches the role by its name or id, in any case",
  (written) => {
    expect(lookVisible(allowedRolesCheck, open([written]), agent())).toEqual([])
    const made = agent({ role: role("developer", { madeBy: "agent" }) })
    expect(lookVisible(allowedRolesCheck, open([written]), made)).toMatchObject([{ code: "role_made_by_agent" }])
  },
)

test("what the configuration says has its line as the source", () => {
  const said = "quartermaster.yml:7 tools.permissions.probe.allowedRoles"
  const tool = { ...open(["tester"]), permissionSources: { allowedRoles: said } }
  expect(lookVisible(allowedRolesCheck, tool, agent())).toMatchObject([{ source: said }])
})

test("the name of a role made by an agent gives no right", () => {
  const tool = open(["developer"])
  for (const madeBy of ["configuration", "person"] as const)
    expect(lookVisible(allowedRolesCheck, tool, agent({ role: role("developer", { madeBy }) }))).toEqual([])
  const made = agent({ role: role("developer", { madeBy: "agent" }) })
  expect(lookVisible(allowedRolesCheck, tool, made)).toMatchObject([
    { code: "role_made_by_agent", fix: "Use an agent whose role a person made: developer" },
  ])
  expect(lookVisible(allowedRolesCheck, open([]), made)).toEqual([])
})
