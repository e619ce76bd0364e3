import { expect, test } from "vitest"
import type { NewRole } from "./organisation-admin.ts"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

const config = {
  departments: [{ id: "north" }, { id: "south" }],
  roles: [
    { name: "boss", toolGroups: ["org_management", "data", "system"], department: "north", level: 3 },
    { name: "free" },
  ],
  agents: [
    { id: "b", role: "boss" },
    { id: "f", role: "free" },
  ],
}

test("a role that a person creates has every field and is stored", async () => {
  const { directory, events, again } = await openDirectory({ config, now: () => 1_800_000_000_000 })
  const given = {
    name: "developer",
    rolePrompt: "你是一个开发者",
    toolGroups: ["data", "system", "data"],
    department: "north",
    level: 2,
    dialect: "claude",
    pins: { sleep: "1.0.0" },
    llmServiceId: "big",
  }
  const { role, created, hint } = await directory.createRole(given, ann)
  expect([created, hint]).toEqual([true, undefined])
  expect(role).toEqual({
    ...given,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    toolGroups: ["data", "system"],
    createdBy: "ann",
    madeBy: "person",
    createdAt: "2027-01-15T08:00:00.000Z",
    status: "active",
  })
  expect(events).toEqual([{ type: "ROLE_CHANGED", at: 1_800_000_000_000, role: role.id, change: "created" }])
  for (const { directory: any } of [{ directory }, await again()]) {
    expect(any.findRole("developer")).toEqual({ ...role, source: "store" })
    expect(any.findRole(role.id)).toEqual({ ...role, source: "store" })
  }
})

test.each([undefined, null])("groups given as %j mean all groups, and a hint says so", async (toolGroups) => {
  const { directory } = await openDirectory()
  const hint = "No groups were chosen, so the role has all groups."
  expect(await directory.createRole({ name: "all", toolGroups }, ann)).toMatchObject({
    role: { toolGroups: null },
    hint,
  })
  const { role } = await directory.createRole({ name: "some", toolGroups: ["data"] }, ann)
  const updated = await directory.updateRole(role.id, { toolGroups }, ann)
  if (toolGroups === undefined) expect(updated).toEqual({ role })
  else expect(updated).toEqual({ role: { ...role, toolGroups: null }, hint })
  await directory.createAgent({ id: "a", role: "all" }, ann)
  expect(directory.view("a")?.groups).toBeNull()
})

test("an empty list of groups gives no tools, and a hint says so", async () => {
  const { directory } = await openDirectory({ config: { ...config, defaultToolGroups: ["data"] } })
  const hint = "The role has no groups, so its agents have no tools."
  for (const by of [ann, agent("root"), agent("b")]) {
    const given = { name: `empty for ${by.id}`, toolGroups: [] }
    expect(await directory.createRole(given, by)).toMatchObject({ role: given, hint })
  }
  const { role } = await directory.createRole({ name: "some", toolGroups: ["data"] }, ann)
  expect(await directory.updateRole(role.id, { toolGroups: [] }, ann)).toMatchObject({ role: { toolGroups: [] }, hint })
  await directory.createAgent({ id: "idle", role: "some" }, ann)
  expect(directory.view("idle")?.groups).toEqual([])
})

test("where the configuration names default groups, the hint names them", async () => {
  const { directory } = await openDirectory({ config: { defaultToolGroups: ["data", "system"] } })
  const { hint } = await directory.createRole({ name: "x", toolGroups: null }, ann)
  expect(hint).toBe("No groups were chosen, so the role has the default ones: data, system.")
})

test("unknown groups are refused by name, both in a new role and in a change", async () => {
  const { directory } = await openDirectory()
  const { role } = await directory.createRole({ name: "dev", toolGroups: ["data"] }, ann)
  const toolGroups = ["data", "dta", "", "__proto__"]
  for (const work of [
    directory.createRole({ name: "new", toolGroups }, ann),
    directory.updateRole("dev", { toolGroups }, ann),
  ]) {
    await expect(work).rejects.toMatchObject({
      code: "invalid_tool_group_ids",
      message: expect.stringMatching(
        /^There are no groups 'dta', '', '__proto__'\. Did you mean 'data'\? Use some of: org_management, data/,
      ),
      details: { invalidGroups: ["dta", "", "__proto__"] },
    })
  }
  expect(directory.findRole("new")).toBeUndefined()
  expect(directory.findRole("dev")).toEqual({ ...role, source: "store" })
})

test.each(["developer", "root", "operator", "boss"])(
  "creating role '%s' a second time returns the first one unchanged",
  async (name) => {
    const { directory, events } = await openDirectory({ config })
    await directory.createRole({ name: "developer", toolGroups: ["data"] }, ann)
    events.length = 0
    const before = directory.findRole(name)!
    const { role, created } = await directory.createRole({ name, rolePrompt: "mine now", toolGroups: ["network"] }, ann)
    expect(created).toBe(false)
    expect({ ...role, source: before.source }).toEqual(before)
    expect(directory.findRole(name)).toEqual(before)
    expect(events).toEqual([])
  },
)

test("the name of a deleted role can be used again for a new role", async () => {
  const { directory } = await openDirectory()
  const { role: first } = await directory.createRole({ name: "dev" }, ann)
  expect(await directory.deleteRole("dev", ann)).toMatchObject({ id: first.id, status: "deleted" })
  expect(directory.findRole("dev")).toBeUndefined()
  const { role: second, created } = await directory.createRole({ name: "dev" }, ann)
  expect([created, second.id === first.id]).toEqual([true, false])
  expect(directory.listRoles().map(({ id, status }) => [id, status])).toEqual([
    [second.id, "active"],
    ["operator", "active"],
    ["root", "active"],
    [first.id, "deleted"],
  ])
})

test("a change updates only the fields it names and is announced after it is stored", async () => {
  const { directory, events, documents } = await openDirectory()
  const { role } = await directory.createRole({ name: "dev", level: 2, department: "x", toolGroups: ["data"] }, ann)
  const { role: changed } = await directory.updateRole(
    "dev",
    { name: "ops", department: "" },
    { kind: "person", id: "bob" },
  )
  const { department: _, ...rest } = role
  expect(changed).toEqual({ ...rest, name: "ops" })
  expect([directory.findRole("dev"), directory.findRole("ops")?.id]).toEqual([undefined, role.id])
  expect(documents.get("role", role.id)).toMatchObject({ name: "ops", changedBy: "bob" })
  await directory.deleteRole("ops", ann)
  expect(events.map((event) => event.type === "ROLE_CHANGED" && event.change)).toEqual([
    "created",
    "updated",
    "deleted",
  ])
})

test.each<[string, string, (directory: Awaited<ReturnType<typeof openDirectory>>["directory"]) => Promise<unknown>]>([
  ["root cannot be changed", "cannot_modify_system_role", (it) => it.updateRole("root", { toolGroups: null }, ann)],
  ["root cannot be deleted", "cannot_modify_system_role", (it) => it.deleteRole("root", ann)],
  ["operator cannot be changed", "cannot_modify_system_role", (it) => it.updateRole("operator", { level: 9 }, ann)],
  ["an unknown role cannot be changed", "role_not_found", (it) => it.updateRole("nobody", {}, ann)],
  ["an unknown role cannot be deleted", "role_not_found", (it) => it.deleteRole("nobody", ann)],
  ["a role of the configuration cannot be changed here", "read_only", (it) => it.updateRole("boss", { level: 9 }, ann)],
  ["a role of the configuration cannot be deleted here", "read_only", (it) => it.deleteRole("boss", ann)],
  ["a role cannot take a name that is taken", "name_taken", (it) => it.updateRole("dev", { name: "boss" }, ann)],
  ["a role cannot take the name of a stored one", "name_taken", (it) => it.updateRole("dev", { name: "two" }, ann)],
  [
    "a role cannot be called like another's id",
    "name_taken",
    (it) => it.createRole({ name: it.findRole("dev")!.id }, ann),
  ],
  ["a role needs a name", "invalid_role_name", (it) => it.createRole({ name: "" }, ann)],
  ["a name has no spaces at its ends", "invalid_role_name", (it) => it.createRole({ name: "boss " }, ann)],
  ["a name has no invisible characters", "invalid_role_name", (it) => it.createRole({ name: "bo\u200bss" }, ann)],
  ["a name has no letters that show nothing", "invalid_role_name", (it) => it.createRole({ name: "boss\u3164" }, ann)],
  ["a name has no control characters", "invalid_role_name", (it) => it.createRole({ name: "a\nb" }, ann)],
  ["a name is not too long", "invalid_role_name", (it) => it.createRole({ name: "x".repeat(201) }, ann)],
  [
    "a prompt is not too long",
    "invalid_role_prompt",
    (it) => it.createRole({ name: "x", rolePrompt: "x".repeat(100_001) }, ann),
  ],
  ["a dialect is known", "invalid_dialect", (it) => it.updateRole("dev", { dialect: "Claude" }, ann)],
  ["a level is a number", "invalid_level", (it) => it.createRole({ name: "x", level: Number.NaN }, ann)],
  ["a pin has a version", "invalid_pins", (it) => it.createRole({ name: "x", pins: { sleep: "" } }, ann)],
  ["a department exists", "unknown_department", (it) => it.createRole({ name: "x", department: "west" }, ann)],
  ["a changed department exists", "unknown_department", (it) => it.updateRole("dev", { department: "west" }, ann)],
])("%s", async (_what, code, work) => {
  const { directory, events } = await openDirectory({ config })
  await directory.createRole({ name: "dev" }, ann)
  await directory.createRole({ name: "two" }, ann)
  const before = directory.listRoles()
  events.length = 0
  const error = await work(directory).then(
    () => undefined,
    (reason: unknown) => reason as Error & { code: string },
  )
  expect(error).toMatchObject({ name: "OrganisationError", code })
  expect(error?.message).toMatch(/^[A-Z'].*\.$/s)
  expect([directory.listRoles(), events]).toEqual([before, []])
})

test("changing a configured role is refused with its place in the configuration", async () => {
  const { directory } = await openDirectory({ config })
  await expect(directory.updateRole("boss", {}, ann)).rejects.toThrow(
    "Role 'boss' is written in the configuration, under org.roles. Change it there.",
  )
})

test("without departments any department may be named", async () => {
  const { directory } = await openDirectory()
  expect((await directory.createRole({ name: "x", department: "anywhere" }, ann)).role.department).toBe("anywhere")
  await directory.createDepartment({ id: "north" }, ann)
  expect(await codeOf(directory.createRole({ name: "y", department: "anywhere" }, ann))).toBe("unknown_department")
})

test("a role created by an agent has its creator's level, department and groups", async () => {
  const { directory } = await openDirectory({ config })
  const { role, hint } = await directory.createRole({ name: "helper" }, agent("b"))
  expect(role).toMatchObject({
    createdBy: "b",
    madeBy: "agent",
    level: 3,
    department: "north",
    toolGroups: ["org_management", "data", "system"],
  })
  expect(hint).toBe("No groups were chosen, so the role has those of its creator: org_management, data, system.")
  const less = { name: "less", toolGroups: ["data"], level: 1, department: "north" }
  expect((await directory.createRole(less, agent("b"))).role).toMatchObject(less)
  expect((await directory.createRole({ name: "all" }, agent("f"))).role).toMatchObject({ toolGroups: null, level: 0 })
})

test.each<[string, string, NewRole]>([
  ["a group it does not have", "tool_groups_not_held", { name: "x", toolGroups: ["data", "network"] }],
  ["an unknown group", "invalid_tool_group_ids", { name: "x", toolGroups: ["nothing"] }],
  ["a higher level", "level_not_held", { name: "x", level: 3.5 }],
  ["another department", "department_not_held", { name: "x", department: "south" }],
  ["pins", "pins_not_allowed", { name: "x", pins: {} }],
])("an agent cannot give %s, neither in a new role nor in a change", async (_what, code, given) => {
  const { directory } = await openDirectory({ config })
  expect(await codeOf(directory.createRole(given, agent("b")))).toBe(code)
  const { role } = await directory.createRole({ name: "own" }, agent("b"))
  const { name: _name, ...change } = given
  expect(await codeOf(directory.updateRole("own", change, agent("b")))).toBe(code)
  expect(directory.findRole("own")).toEqual({ ...role, source: "store" })
})

test.each([
  ["a blank letter", "boss\u2800", "invalid_role_name"],
  ["another blank letter", "boss\u115f", "invalid_role_name"],
  ["a sign that is not shown", "boss\ufe0f", "invalid_role_name"],
  ["wide letters", "ｂｏｓｓ", "invalid_role_name"],
  ["a ligature", "oﬃce", "invalid_role_name"],
  ["a space that is no space", "the\u00a0boss", "invalid_role_name"],
  ["a space that looks like a dash", "the\u1680boss", "invalid_role_name"],
  ["other capitals than a role of the configuration", "BOSS", "name_taken"],
  ["other capitals than a built-in role", "Operator", "name_taken"],
  ["a dotless letter", "bıg boss", "name_taken"],
  ["another space than a person's role", "Big  boss", "name_taken"],
])("an agent cannot name a role with %s, neither in a new role nor in a change", async (_what, name, code) => {
  const { directory } = await openDirectory({ config })
  await directory.createRole({ name: "Big Boss" }, ann)
  await directory.createRole({ name: "own" }, agent("b"))
  for (const by of ["b", "root"]) expect(await codeOf(directory.createRole({ name }, agent(by)))).toBe(code)
  expect(await codeOf(directory.updateRole("own", { name }, agent("b")))).toBe(code)
})

test("an agent may change the case of its role's name, reuse a deleted name, and use any script", async () => {
  const { directory } = await openDirectory({ config })
  await directory.createRole({ name: "own" }, agent("b"))
  expect((await directory.updateRole("own", { name: "Own" }, agent("b"))).role.name).toBe("Own")
  await directory.deleteRole("Own", agent("b"))
  for (const name of ["OWN", "开发者", "développeur", "the boss's helper"])
    expect((await directory.createRole({ name }, agent("b"))).created).toBe(true)
  expect((await directory.createRole({ name: "BOSS" }, ann)).created).toBe(true)
})

test("an agent without a department cannot give one, and with levelOrder desc it cannot give a smaller level", async () => {
  const { directory } = await openDirectory({ config, levelOrder: "desc" })
  expect(await codeOf(directory.createRole({ name: "x", department: "north" }, agent("f")))).toBe("department_not_held")
  expect(await codeOf(directory.createRole({ name: "x", level: 2 }, agent("b")))).toBe("level_not_held")
  expect((await directory.createRole({ name: "x", level: 4 }, agent("b"))).role.level).toBe(4)
})

test("root can give any groups, level and department, but no pins", async () => {
  const { directory } = await openDirectory({ config })
  const any = { name: "any", toolGroups: ["network", "command"], level: 9, department: "south" }
  expect((await directory.createRole(any, agent("root"))).role).toMatchObject({ ...any, madeBy: "agent" })
  const { role, hint } = await directory.createRole({ name: "all" }, agent("root"))
  expect([role.toolGroups, hint]).toEqual([null, "No groups were chosen, so the role has all groups."])
  expect(await codeOf(directory.createRole({ name: "x", pins: {} }, agent("root")))).toBe("pins_not_allowed")
  expect(await codeOf(directory.createRole({ name: "x", department: "west" }, agent("root")))).toBe(
    "unknown_department",
  )
})

test("an agent changes and deletes only roles it created; a person may too, but cannot pin them", async () => {
  const { directory } = await openDirectory({ config })
  const { role } = await directory.createRole({ name: "own" }, agent("b"))
  await directory.createRole({ name: "person's" }, ann)
  for (const [name, by] of [
    ["person's", "b"],
    ["own", "f"],
    ["own", "root"],
    ["person's", "root"],
  ] as const) {
    expect(await codeOf(directory.updateRole(name, { rolePrompt: "x" }, agent(by)))).toBe("not_child_role")
    expect(await codeOf(directory.deleteRole(name, agent(by)))).toBe("not_child_role")
  }
  expect(await codeOf(directory.updateRole("boss", {}, agent("b")))).toBe("read_only")
  expect((await directory.updateRole("own", { rolePrompt: "x" }, agent("b"))).role).toEqual({
    ...role,
    rolePrompt: "x",
  })
  expect(await codeOf(directory.updateRole("own", { pins: { a: "1" } }, ann))).toBe("pins_not_allowed")
  expect((await directory.updateRole("own", { level: 1 }, ann)).role).toMatchObject({ madeBy: "agent", createdBy: "b" })
  expect((await directory.deleteRole("own", agent("b"))).status).toBe("deleted")
})

test("an agent that has ended, has no role or does not exist cannot change anything", async () => {
  const { directory } = await openDirectory({ config })
  const { role } = await directory.createRole({ name: "dev" }, ann)
  await directory.createAgent({ id: "ended", role: "dev" }, ann)
  await directory.terminateAgent("ended", ann)
  await directory.createAgent({ id: "roleless", role: "dev" }, ann)
  await directory.deleteRole(role.id, ann)
  for (const id of ["ended", "roleless", "nobody"]) {
    for (const work of [
      directory.createRole({ name: "x" }, agent(id)),
      directory.createRole({ name: "boss" }, agent(id)),
      directory.updateRole("boss", {}, agent(id)),
      directory.deleteRole("boss", agent(id)),
      directory.terminateAgent("b", agent(id)),
    ]) {
      expect(await codeOf(work)).toBe("caller_terminated")
    }
    const code = id === "nobody" ? "invalid_parentAgentId" : "caller_terminated"
    expect(await codeOf(directory.createAgent({ role: "boss" }, agent(id)))).toBe(code)
  }
})
