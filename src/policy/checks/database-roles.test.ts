import { expect, test } from "vitest"
import { agent, facts, registered, role } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { databaseRolesCheck } from "./database-roles.ts"

const tool = registered({ effect: "read" })
const look = (who: ReturnType<typeof agent>, roles?: string[]) =>
  lookAtCall(
    databaseRolesCheck,
    facts({ tool, who, touches: { list: [{ kind: "database", what: "crm", roles }], proved: true } }),
  )

test("a database with roles is for their agents only; the fix is the line with the role", () => {
  expect(look(agent(), ["analyst"])).toMatchObject([
    {
      verdict: "deny",
      check: "database",
      source: "databases.crm.roles",
      code: "database_not_allowed",
      params: { database: "crm", role: "developer" },
      fix: "databases.crm.roles: [analyst, developer]",
    },
  ])
  expect(look(agent())).toEqual([])
})

test.each(["developer", "DEVELOPER", "role-developer"])(
  "'%s' matches the role by its name or id, in any case",
  (written) => {
    expect(look(agent(), ["analyst", written])).toEqual([])
  },
)

test("neither a role that an agent made nor an agent below another role gains the database", () => {
  expect(look(agent({ role: role("developer", { madeBy: "agent" }) }), ["developer"])).toHaveLength(1)
  const parent = agent({ role: role("intern") })
  expect(look({ ...agent(), ancestors: [parent] }, ["developer"])).toHaveLength(1)
  expect(look({ ...agent(), ancestors: [parent] }, ["developer", "intern"])).toEqual([])
})
