import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { fromModule } from "../registry/adapters.ts"
import { openTestApp, tool } from "../testing/test-app.ts"
import { readConfiguredOrganisation, rootGroups, type OrganisationConfig } from "./configured-organisation.ts"
import { openDirectory } from "./testing/open-directory.ts"

const directoryOf = async (config: OrganisationConfig = {}) => (await openDirectory({ config })).directory

test("a role has every field of its design, and toolGroups is null when none are named", async () => {
  const directory = await directoryOf({
    roles: [
      { id: "r1", name: "developer", rolePrompt: "You write code.", dialect: "claude", llmServiceId: "big" },
      { name: "tester", toolGroups: ["chrome"] },
      { name: "guest", toolGroups: [] },
    ],
  })
  expect(directory.findRole("r1")).toMatchObject({
    id: "r1",
    name: "developer",
    rolePrompt: "You write code.",
    createdBy: "configuration",
    madeBy: "configuration",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    status: "active",
    llmServiceId: "big",
    toolGroups: null,
    dialect: "claude",
    source: "configuration",
  })
  expect(directory.findRole("developer")?.id).toBe("r1")
  expect(directory.findRole("tester")).toMatchObject({
    id: "tester",
    rolePrompt: "",
    llmServiceId: null,
    toolGroups: ["chrome"],
  })
  expect(directory.findRole("guest")).toMatchObject({ toolGroups: [] })
})

test("root and operator are built in: root has org_management only, operator has all groups", async () => {
  const directory = await directoryOf()
  const named = (list: readonly { id: string; source: string }[]) => list.map(({ id, source }) => [id, source])
  expect(named(directory.listRoles())).toEqual([
    ["operator", "built in"],
    ["root", "built in"],
  ])
  expect(named(directory.listAgents())).toEqual([
    ["operator", "built in"],
    ["root", "built in"],
  ])
  expect(directory.view("root")).toMatchObject({ groups: rootGroups, role: { name: "root" }, ancestors: [] })
  expect(directory.view("operator")).toMatchObject({ groups: null, role: { name: "operator" } })
})

test("a role that names no groups gets the default groups, an empty list gives none; operator keeps all", async () => {
  const directory = await directoryOf({
    defaultToolGroups: ["data"],
    roles: [{ name: "none" }, { name: "empty", toolGroups: [] }, { name: "own", toolGroups: ["system"] }],
    agents: ["none", "empty", "own"].map((role) => ({ id: role, role })),
  })
  const groups = ["none", "empty", "own", "operator", "root"].map((id) => directory.view(id)?.groups)
  expect(groups).toEqual([["data"], [], ["system"], null, rootGroups])
})

test("an agent has an id, role, department and level; missing ones come from its role", async () => {
  const directory = await directoryOf({
    roles: [
      { id: "r1", name: "dev", department: "north", level: 2, pins: { a: "1.0.0", b: "1.0.0" } },
      { name: "plain" },
    ],
    agents: [
      { id: "one", role: "dev" },
      { id: "two", role: "r1", department: "south", level: 5, pins: { b: "2.0.0" } },
      { id: "three", role: "plain" },
    ],
  })
  expect(directory.view("one")).toMatchObject({
    agent: { id: "one", roleId: "r1", status: "active" },
    role: { id: "r1", name: "dev" },
    department: "north",
    level: 2,
  })
  expect(directory.view("two")).toMatchObject({
    agent: { id: "two", roleId: "r1", department: "south", level: 5 },
    role: { name: "dev" },
    department: "south",
    level: 5,
    pins: { a: "1.0.0", b: "2.0.0" },
  })
  expect(directory.view("three")).toMatchObject({ level: 0, department: undefined, pins: {} })
})

test.each(["nobody", "", "__proto__", "constructor", "dev"])("an unknown agent id %j has no view", async (id) => {
  const directory = await directoryOf({ roles: [{ name: "dev" }], agents: [{ id: "ann", role: "dev" }] })
  expect(directory.view(id)).toBeUndefined()
})

test.each<[string, Config["org"] & {}, RegExp]>([
  ["two roles of one name", { roles: [{ name: "dev" }, { name: "dev" }] }, /two roles 'dev'/],
  [
    "two roles of one name with ids of their own",
    {
      roles: [
        { id: "a", name: "dev" },
        { id: "b", name: "dev" },
      ],
    },
    /two roles 'dev'/,
  ],
  [
    "a role whose name is another's id",
    {
      roles: [
        { id: "dev", name: "a" },
        { id: "b", name: "dev" },
      ],
    },
    /two roles 'dev'/,
  ],
  [
    "a role whose id is another's name",
    {
      roles: [
        { id: "a", name: "dev" },
        { id: "dev", name: "b" },
      ],
    },
    /two roles 'dev'/,
  ],
  [
    "a role called root",
    { roles: [{ name: "root", toolGroups: ["system"] }] },
    /two roles 'root'.*'root' and 'operator' exist always/,
  ],
  ["a role that calls itself root beside its id", { roles: [{ id: "mine", name: "root" }] }, /two roles 'root'/],
  ["a role called operator", { roles: [{ id: "operator", name: "mine" }] }, /two roles 'operator'/],
  [
    "two agents of one id",
    {
      roles: [{ name: "dev" }],
      agents: [
        { id: "ann", role: "dev" },
        { id: "ann", role: "dev" },
      ],
    },
    /two agents 'ann'/,
  ],
  [
    "an agent with a folder outside the workspace",
    { agents: [{ id: "a", role: "operator", folder: "../x" }] },
    /^Agent 'a' has the folder '\.\.\/x', which is none of the workspace\./,
  ],
  [
    "an agent with a folder that the one above it does not have",
    {
      agents: [
        { id: "a", role: "operator", folder: "src", parent: "b" },
        { id: "b", role: "operator", parent: "c" },
        { id: "c", role: "operator", folder: "docs/" },
      ],
    },
    /^Agent 'a' has the folder 'src', which is not inside 'docs', the folder of agent 'c' above it\./,
  ],
  ["an agent called root", { agents: [{ id: "root", role: "operator" }] }, /two agents 'root'/],
  ["an agent called operator", { agents: [{ id: "operator", role: "root" }] }, /two agents 'operator'/],
  ["an agent with an undefined role", { agents: [{ id: "ann", role: "dev" }] }, /role 'dev', which does not exist/],
  [
    "a role of an unknown department",
    { departments: [{ id: "north" }], roles: [{ name: "dev", department: "south" }] },
    /Department 'south' does not exist/,
  ],
  [
    "an agent of an unknown department",
    { departments: [{ id: "north" }], agents: [{ id: "ann", role: "operator", department: "south" }] },
    /Department 'south' does not exist/,
  ],
  ["two people of one id", { people: [{ id: "ann" }, { id: "ann" }] }, /two people 'ann'/],
])("%s is refused with a sentence, and the app does not start", async (_what, org, sentence) => {
  expect(() => readConfiguredOrganisation(org)).toThrow(sentence)
  await expect(openTestApp({ org })).rejects.toThrow(sentence)
})

test("any department is allowed until some are listed", async () => {
  const free = await directoryOf({ roles: [{ name: "dev", department: "anywhere" }] })
  expect(free.findRole("dev")).toMatchObject({ department: "anywhere" })
  const listed = await directoryOf({
    departments: [{ id: "north" }],
    agents: [{ id: "ann", role: "operator", department: "north" }],
  })
  expect(listed.view("ann")).toMatchObject({ department: "north" })
})

const grouped = (name: string, group: string) => tool({ name, group, execute: () => name })

test("the example wiring: root organises, a developer has workspace and command, a tester chrome and workspace", async () => {
  const system = await openTestApp({
    org: {
      roles: [
        { name: "developer", toolGroups: ["workspace", "command"] },
        { name: "tester", toolGroups: ["chrome", "workspace"] },
      ],
      agents: [
        { id: "dev", role: "developer" },
        { id: "qa", role: "tester" },
      ],
    },
  })
  const tools = [
    ["spawn", "org_management"],
    ["look", "workspace"],
    ["shell", "command"],
    ["page", "chrome"],
  ] as const
  for (const [name, group] of tools) system.registry.register(grouped(name, group))
  const visible = (agentId: string) => system.visibleTools(agentId).map(({ name }) => name)
  const inGroups = (...groups: string[]) =>
    groups.flatMap((group) => system.groups.getGroup(group)!.tools.map((definition) => definition.function.name)).sort()
  expect([visible("root"), visible("dev"), visible("qa")]).toEqual([
    inGroups("org_management"),
    inGroups("workspace", "command"),
    inGroups("chrome", "workspace"),
  ])
  const callable = async (agentId: string) => {
    const results = await system.callMany(tools.map(([name]) => ({ agentId, tool: name, input: {} })))
    return results.filter(({ success }) => success).map(({ result }) => result)
  }
  expect([await callable("root"), await callable("dev"), await callable("qa")]).toEqual([
    ["spawn"],
    ["look", "shell"],
    ["look", "page"],
  ])
})

test("a module and the built-ins register into the manager, a role takes groups from both, an agent has one role", async () => {
  const system = await openTestApp({
    org: { roles: [{ name: "tester", toolGroups: ["chrome", "data"] }], agents: [{ id: "qa", role: "tester" }] },
  })
  const parameters = { type: "object", properties: {} }
  const chrome = {
    name: "chrome",
    getToolDefinitions: () => [
      { type: "function" as const, function: { name: "open_page", description: "Open a page.", parameters } },
    ],
    executeToolCall: () => Promise.resolve({ opened: true }),
  }
  system.registry.registerMany(fromModule(chrome))
  expect(system.groups.getToolGroup("open_page")).toBe("chrome")
  expect(system.groups.getToolGroup("json_parse")).toBe("data")
  expect(system.org.view("qa")?.role.toolGroups).toEqual(["chrome", "data"])
  expect(system.visibleTools("qa").map(({ group }) => group)).toEqual(["data", "data", "data", "data", "chrome"])
})

const people: Config["org"] = {
  roles: [{ name: "dev" }, { name: "ops" }],
  agents: [
    { id: "ann", role: "dev", department: "north", level: 1 },
    { id: "bob", role: "ops", department: "south", level: 3 },
    { id: "cid", role: "ops", level: 2 },
  ],
}

test.each([
  ["no role is named", { allowedRoles: [] }, ["ann", "bob", "cid"]],
  ["a role is named", { allowedRoles: ["dev"] }, ["ann"]],
  ["no department is named", { allowedDepartments: [] }, ["ann", "bob", "cid"]],
  ["a department is named", { allowedDepartments: ["south"] }, ["bob"]],
  ["no level is asked for", {}, ["ann", "bob", "cid"]],
  ["a level is asked for", { minLevel: 2 }, ["bob", "cid"]],
])("who may call a tool when %s", async (_what, permission, who) => {
  const system = await openTestApp({ org: people })
  system.registry.register(tool({ permission, execute: () => 1 }))
  const results = await system.callMany(["ann", "bob", "cid"].map((agentId) => ({ agentId, tool: "probe", input: {} })))
  expect(["ann", "bob", "cid"].filter((_, index) => results[index]?.success)).toEqual(who)
})

test("a larger level has more rights; with levelOrder desc a smaller one has", async () => {
  const allowed = async (levelOrder: "asc" | "desc" | undefined) => {
    const system = await openTestApp({ org: { ...people, levelOrder } })
    system.registry.register(tool({ permission: { minLevel: 2 }, execute: () => 1 }))
    const results = await system.callMany(
      ["ann", "bob", "cid"].map((agentId) => ({ agentId, tool: "probe", input: {} })),
    )
    return ["ann", "bob", "cid"].filter((_, index) => results[index]?.success)
  }
  expect(await allowed(undefined)).toEqual(["bob", "cid"])
  expect(await allowed("asc")).toEqual(["bob", "cid"])
  expect(await allowed("desc")).toEqual(["ann", "cid"])
})
