import { expect, test } from "vitest"
import type { StoredDocument } from "../core/documents.ts"
import type { AgentConfig, OrganisationConfig, RoleConfig } from "./configured-organisation.ts"
import { agent, ann, openDirectory } from "./testing/open-directory.ts"

const tree = (roles: RoleConfig[], agents: AgentConfig[], rest: OrganisationConfig = {}) =>
  openDirectory({ config: { roles, agents, ...rest } })

test("ancestors are listed nearest first, without root", async () => {
  const { directory } = await tree(
    [{ name: "dev" }],
    [
      { id: "top", role: "dev", parent: "root" },
      { id: "middle", role: "dev", parent: "top" },
      { id: "low", role: "dev", parent: "middle" },
    ],
  )
  const ancestors = (id: string) => directory.view(id)?.ancestors.map((view) => view.agent.id)
  expect([ancestors("top"), ancestors("middle"), ancestors("low")]).toEqual([[], ["top"], ["middle", "top"]])
})

test.each([
  ["both have all groups", null, null, null],
  ["only the parent is limited", ["data"], null, ["data"]],
  ["only the child is limited", null, ["data"], ["data"]],
  ["both are limited", ["data", "system"], ["system", "network"], ["system"]],
  ["they have nothing in common", ["data"], ["system"], []],
])("a child has the groups that both its role and its parent have: %s", async (_what, above, own, groups) => {
  const { directory } = await tree(
    [
      { name: "above", toolGroups: above },
      { name: "own", toolGroups: own },
    ],
    [
      { id: "top", role: "above" },
      { id: "low", role: "own", parent: "top" },
      { id: "lowest", role: "own", parent: "low" },
    ],
  )
  expect([directory.view("low")?.groups, directory.view("lowest")?.groups]).toEqual([groups, groups])
})

test.each([
  ["asc", 3, 5, 3],
  ["asc", 5, 3, 3],
  ["asc", undefined, 5, 0],
  ["asc", 3, undefined, 0],
  ["desc", 3, 5, 5],
  ["desc", 5, 3, 5],
  ["desc", undefined, 5, Number.MAX_SAFE_INTEGER],
  ["desc", 3, undefined, Number.MAX_SAFE_INTEGER],
] as const)(
  "with level order %s, a parent at level %s limits a child at %s to %s",
  async (levelOrder, above, own, level) => {
    const config = {
      roles: [{ name: "dev" }],
      agents: [
        { id: "top", role: "dev", level: above },
        { id: "low", role: "dev", level: own, parent: "top" },
      ],
    }
    const { directory } = await openDirectory({ config, levelOrder })
    expect(directory.view("low")?.level).toBe(level)
  },
)

test.each([
  ["its own", { department: "own" }, { department: "role" }, undefined, "own"],
  ["its role's", {}, { department: "role" }, undefined, "role"],
  ["its parent's", {}, {}, "above", "above"],
  ["its parent's before its own", { department: "own" }, { department: "role" }, "above", "above"],
  ["none", {}, {}, undefined, undefined],
])("the department of an agent is %s", async (_what, own, role, above, department) => {
  const { directory } = await tree(
    [{ name: "dev" }, { name: "low", ...role }],
    [
      { id: "top", role: "dev", department: above },
      { id: "low", role: "low", parent: "top", ...own },
    ],
  )
  expect(directory.view("low")?.department).toBe(department)
})

test("pins come from roles and agents created by people or the configuration, also ancestors, never from an agent's own", async () => {
  const { directory, documents } = await tree(
    [
      { name: "dev", pins: { a: "1.0.0", b: "1.0.0" } },
      { name: "low", pins: { b: "2.0.0" } },
    ],
    [
      { id: "top", role: "dev" },
      { id: "low", role: "low", parent: "top", pins: { c: "3.0.0" } },
    ],
  )
  expect(directory.view("low")?.pins).toEqual({ a: "1.0.0", b: "2.0.0", c: "3.0.0" })
  const { role } = await directory.createRole({ name: "made" }, agent("top"))
  const child = await directory.createAgent({ role: role.id }, agent("top"))
  for (const [kind, { id, ...body }] of [
    ["role", role],
    ["agent", child],
  ] as const) {
    const name = kind === "role" ? role.name : null
    await documents.put({ kind, id, name, body: { ...body, id, pins: { a: "9.0.0", d: "9.0.0" } } }, "somebody")
  }
  expect(directory.view(child.id)?.pins).toEqual({ a: "1.0.0", b: "1.0.0" })
})

test.each([
  ["itself", [["a", "a"]]],
  [
    "an agent below it",
    [
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
    ],
  ],
  ["an unknown agent", [["a", "gone"]]],
  [
    "a child of an unknown agent",
    [
      ["a", "b"],
      ["b", "gone"],
    ],
  ],
])("an agent below %s has no view", async (_what, agents) => {
  const { directory } = await tree(
    [{ name: "dev" }],
    agents.map(([id, parent]) => ({ id: id!, role: "dev", parent })),
  )
  expect(agents.map(([id]) => directory.view(id!))).toEqual(agents.map(() => undefined))
  expect(directory.view("operator")).toBeDefined()
})

test("an agent whose role was deleted has no view, also when another role takes the name", async () => {
  const { directory } = await openDirectory()
  const { role } = await directory.createRole({ name: "dev" }, ann)
  await directory.createAgent({ id: "a", role: role.id }, ann)
  expect(directory.view("a")).toMatchObject({ role: { name: "dev" }, groups: null })
  await directory.deleteRole("dev", ann)
  expect(directory.view("a")).toBeUndefined()
  await directory.createRole({ name: "dev" }, ann)
  expect(directory.view("a")).toBeUndefined()
})

test("root has only org_management, whatever the store contains", async () => {
  const { directory, documents } = await openDirectory()
  const made = { createdBy: "x", madeBy: "person", createdAt: "", status: "active" }
  await documents.put(
    { kind: "role", id: "root", name: "root", body: { ...made, id: "root", name: "root", toolGroups: null } },
    "x",
  )
  await documents.put(
    { kind: "role", id: "r2", name: "other", body: { ...made, id: "r2", name: "other", toolGroups: null } },
    "x",
  )
  await documents.put({ kind: "agent", id: "root", body: { ...made, id: "root", roleId: "r2" } }, "x")
  expect(directory.view("root")).toMatchObject({ groups: ["org_management"], role: { name: "root" } })
  expect(directory.listRoles().filter(({ name }) => name === "root")).toHaveLength(1)
})

test("a configured role replaces a person's role of the same name and disables an agent's", async () => {
  const first = await openDirectory({ config: { roles: [{ name: "boss" }], agents: [{ id: "b", role: "boss" }] } })
  const { role: persons } = await first.directory.createRole({ name: "dev", toolGroups: ["network"] }, ann)
  await first.directory.createAgent({ id: "p", role: "dev" }, ann)
  const { role: agents } = await first.directory.createRole({ name: "ops" }, agent("b"))
  const child = await first.directory.createAgent({ role: agents.id }, agent("b"))
  await first.directory.createAgent({ id: "same", role: "dev" }, ann)

  const config = {
    roles: [{ name: "boss" }, { id: "r1", name: "dev", toolGroups: ["data"] }, { id: "ops", name: "Operations" }],
    agents: [
      { id: "b", role: "boss" },
      { id: "same", role: "boss" },
    ],
  }
  const { directory } = await first.again({ config })
  expect(directory.findRole("dev")).toMatchObject({ id: "r1", source: "configuration" })
  expect(directory.findRole(persons.id)).toMatchObject({ id: "r1" })
  expect(directory.view("p")).toMatchObject({ role: { id: "r1" }, groups: ["data"] })
  expect(directory.view(child.id)).toBeUndefined()
  expect(directory.findRole(agents.id)).toBeUndefined()
  expect(directory.view("same")?.role.name).toBe("boss")
  expect(directory.listRoles().map(({ name }) => name)).toEqual(["Operations", "boss", "dev", "operator", "root"])
  expect(directory.listAgents().filter(({ id }) => id === "same")).toHaveLength(1)
})

test("a freeze applies to its agent and all agents below, and * to all agents, until it is lifted", async () => {
  const { directory, documents } = await tree(
    [{ name: "dev" }],
    [
      { id: "top", role: "dev", parent: "root" },
      { id: "low", role: "dev", parent: "top" },
      { id: "other", role: "dev" },
    ],
  )
  const freeze = (id: string, live = true) =>
    documents.put({ kind: "freeze", id, live, body: { by: "ann", at: 1, because: id } }, "ann")
  const frozen = () =>
    Object.fromEntries(
      ["root", "top", "low", "other", "operator"].map((id) => [id, directory.view(id)?.frozen?.because]),
    )
  expect(frozen()).toEqual({})
  await freeze("top")
  expect(frozen()).toEqual({ top: "top", low: "top" })
  await freeze("top", false)
  await freeze("low")
  expect(frozen()).toEqual({ low: "low" })
  await freeze("root")
  expect(frozen()).toEqual({ root: "root", top: "root", low: "low" })
  await freeze("*")
  expect(frozen()).toEqual({ root: "root", top: "root", low: "low", other: "*", operator: "*" })
  expect(["low", "top", "other"].map((id) => directory.view(id)?.frozen?.agentId)).toEqual(["low", "root", undefined])
  for (const id of ["low", "root", "*"]) await freeze(id, false)
  expect(frozen()).toEqual({})
})

test("a view is cached until the organisation changes; grants and rules do not count", async () => {
  const { directory, documents } = await tree([{ name: "dev" }], [{ id: "a", role: "dev" }])
  const view = directory.view("a")
  const { version } = directory
  expect(directory.view("a")).toBe(view)
  for (const kind of ["grant", "rule", "mode"] as const) await documents.put({ kind, id: "x", body: {} }, "ann")
  expect([directory.view("a"), directory.version]).toEqual([view, version])
  expect(directory.view("a")).toBe(view)
  await directory.createRole({ name: "other" }, ann)
  expect(directory.version).toBeGreaterThan(version)
  expect(directory.view("a")).not.toBe(view)
  expect(directory.view("a")).toEqual(view)
})

test("a change in another process is seen after a refresh", async () => {
  const { directory, documents, again } = await openDirectory()
  const { directory: other } = await again()
  await other.createRole({ name: "dev" }, ann)
  await other.createAgent({ id: "a", role: "dev" }, ann)
  const { version } = directory
  expect(directory.view("a")).toBeUndefined()
  await documents.refresh()
  expect(directory.view("a")).toMatchObject({ role: { name: "dev" } })
  expect(directory.version).toBeGreaterThan(version)
  const changes: StoredDocument[] = []
  documents.onChange((changed) => void changes.push(...changed))
  await other.terminateAgent("a", ann)
  await documents.refresh()
  expect([directory.view("a"), changes.length]).toEqual([undefined, 1])
})
