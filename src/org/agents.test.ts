import { expect, test } from "vitest"
import type { NewAgent } from "./organisation-admin.ts"
import type { Directory } from "./directory.ts"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

const config = {
  departments: [{ id: "north" }],
  roles: [{ name: "dev", level: 2 }],
  agents: [
    { id: "boss", role: "dev" },
    { id: "second", role: "dev", parent: "boss" },
  ],
}

/** boss creates a, a creates b and c, b creates d. */
async function family(directory: Directory): Promise<Record<"a" | "b" | "c" | "d", string>> {
  const child = async (parent: string) => {
    const { role } = await directory.createRole({ name: `role of ${parent}` }, agent(parent))
    return (await directory.createAgent({ role: role.id }, agent(parent))).id
  }
  const a = await child("boss")
  const b = await child(a)
  return { a, b, c: await child(a), d: await child(b) }
}

test("a person creates an agent with the given id and fields, and it is stored", async () => {
  const { directory, events, again } = await openDirectory({ config, now: () => 0 })
  const given = {
    id: "dev:1_a.B-2",
    department: "north",
    level: 3,
    parentId: "boss",
    taskId: "t",
    taskBrief: { objective: "x" },
    pins: { sleep: "1.0.0" },
  }
  const made = await directory.createAgent({ ...given, role: "dev" }, ann)
  expect(made).toEqual({
    ...given,
    roleId: "dev",
    status: "active",
    createdBy: "ann",
    madeBy: "person",
    createdAt: "1970-01-01T00:00:00.000Z",
  })
  expect(events).toEqual([{ type: "AGENT_CHANGED", at: 0, agent: made.id, change: "created" }])
  const { directory: other } = await again()
  expect(other.findAgent(made.id)).toEqual({ ...made, source: "store" })
  expect(other.view(made.id)).toMatchObject({ level: 2, department: "north", pins: given.pins })
  const minted = await directory.createAgent({ role: "dev" }, ann)
  expect(minted.id).toMatch(/^[0-9a-f-]{36}$/)
})

test.each<[string, string, NewAgent]>([
  ["an id with a blank", "invalid_agent_id", { id: "a b", role: "dev" }],
  ["an empty id", "invalid_agent_id", { id: "", role: "dev" }],
  ["the id for all agents", "invalid_agent_id", { id: "*", role: "dev" }],
  ["an id that is too long", "invalid_agent_id", { id: "x".repeat(101), role: "dev" }],
  ["an id with a path", "invalid_agent_id", { id: "../x", role: "dev" }],
  ["root's id", "agent_exists", { id: "root", role: "dev" }],
  ["operator's id", "agent_exists", { id: "operator", role: "dev" }],
  ["the id of an agent of the configuration", "agent_exists", { id: "boss", role: "dev" }],
  ["the id of a stored agent", "agent_exists", { id: "there", role: "dev" }],
  ["the id of an agent that ended", "agent_exists", { id: "ended", role: "dev" }],
  ["the id of a person", "agent_exists", { id: "pia", role: "dev" }],
  ["the reserved id of the user", "agent_exists", { id: "user", role: "dev" }],
  ["an unknown role", "unknown_role", { id: "x", role: "nobody" }],
  ["an unknown parent", "invalid_parentAgentId", { id: "x", role: "dev", parentId: "nobody" }],
  ["a terminated parent", "invalid_parentAgentId", { id: "x", role: "dev", parentId: "ended" }],
  ["itself as parent", "invalid_parentAgentId", { id: "x", role: "dev", parentId: "x" }],
  ["an unknown department", "unknown_department", { id: "x", role: "dev", department: "west" }],
  ["a level that is not a number", "invalid_level", { id: "x", role: "dev", level: Infinity }],
  ["a pin without a version", "invalid_pins", { id: "x", role: "dev", pins: { sleep: "" } }],
  ["a brief that is not JSON", "invalid_task_brief", { id: "x", role: "dev", taskBrief: { at: new Date(0) } }],
])("an agent with %s is refused", async (_what, code, given) => {
  const { directory, events } = await openDirectory({ config })
  await directory.createPerson({ id: "pia" }, ann)
  for (const id of ["there", "ended"]) await directory.createAgent({ id, role: "dev" }, ann)
  await directory.terminateAgent("ended", ann)
  const before = directory.listAgents({ includeTerminated: true })
  events.length = 0
  expect(await codeOf(directory.createAgent(given, ann))).toBe(code)
  expect([directory.listAgents({ includeTerminated: true }), events]).toEqual([before, []])
})

test("an agent's child has it as parent, works on its task and has a role it created", async () => {
  const { directory } = await openDirectory({ config })
  await directory.createAgent({ id: "worker", role: "dev", taskId: "t1" }, ann)
  const { role } = await directory.createRole({ name: "mine" }, agent("worker"))
  const child = await directory.createAgent({ role: role.id, taskId: "another task" }, agent("worker"))
  expect(child).toMatchObject({ parentId: "worker", taskId: "t1", createdBy: "worker", madeBy: "agent" })
  expect(directory.view(child.id)?.ancestors.map((view) => view.agent.id)).toEqual(["worker"])
})

test("root starts a new task with each agent unless the call has one; other agents pass on their own task or none", async () => {
  const { directory } = await openDirectory({ config })
  const fresh = [
    await directory.createAgent({ role: "dev" }, agent("root")),
    await directory.createAgent({ role: "dev" }, agent("root")),
  ].map(({ taskId }) => taskId)
  expect(new Set(fresh).size).toBe(2)
  expect(fresh).not.toContain(undefined)
  expect((await directory.createAgent({ role: "dev", taskId: "t9" }, agent("root"))).taskId).toBe("t9")
  const { role } = await directory.createRole({ name: "mine" }, agent("boss"))
  expect((await directory.createAgent({ role: role.id }, agent("boss"))).taskId).toBeUndefined()
})

test("root may give roles of people and the configuration, an agent only roles it created, and no agent built-in roles", async () => {
  const { directory } = await openDirectory({ config })
  const { role: persons } = await directory.createRole({ name: "person's" }, ann)
  const { role: bosses } = await directory.createRole({ name: "boss's" }, agent("boss"))
  const { role: roots } = await directory.createRole({ name: "root's" }, agent("root"))
  const spawn = (by: string, role: string) => codeOf(directory.createAgent({ role }, agent(by)))
  const roles = [persons.id, bosses.id, roots.id, "dev", "root", "operator", "nobody"]
  const tried = async (by: string) => Promise.all(roles.map((role) => spawn(by, role)))
  const no = "not_child_role"
  expect(await tried("root")).toEqual([undefined, no, undefined, undefined, no, no, "unknown_role"])
  expect(await tried("boss")).toEqual([no, undefined, no, no, no, no, "unknown_role"])
  expect(await tried("second")).toEqual([no, no, no, no, no, no, "unknown_role"])
})

test.each<[string, string, Partial<NewAgent>]>([
  ["another agent as parent", "invalid_parentAgentId", { parentId: "second" }],
  ["root as parent", "invalid_parentAgentId", { parentId: "root" }],
  ["an id", "person_required", { id: "mine" }],
  ["a level", "person_required", { level: 0 }],
  ["a department", "person_required", { department: "north" }],
  ["pins", "person_required", { pins: {} }],
])("an agent that creates an agent cannot choose %s", async (_what, code, given) => {
  const { directory } = await openDirectory({ config })
  const { role } = await directory.createRole({ name: "mine" }, agent("boss"))
  expect(await codeOf(directory.createAgent({ role: role.id, ...given }, agent("boss")))).toBe(code)
})

test("an agent has at most a hundred ancestors", async () => {
  const { directory } = await openDirectory({ config })
  let parent = "root"
  for (let depth = 0; depth <= 100; depth++) {
    await directory.createAgent({ id: `a${depth}`, role: "dev", parentId: parent }, ann)
    parent = `a${depth}`
  }
  expect(directory.view("a100")?.ancestors).toHaveLength(100)
  expect(await codeOf(directory.createAgent({ id: "more", role: "dev", parentId: "a100" }, ann))).toBe("spawn_too_deep")
})

test("terminating an agent terminates all agents below it, top down; their documents stay and say why", async () => {
  const { directory, events, stopped } = await openDirectory({ config, now: () => 7 })
  const { a, b, c, d } = await family(directory)
  events.length = 0
  const ended = await directory.terminateAgent(a, agent("boss"), "It is done.")
  expect([ended[0], ended.slice(1, 3).sort(), ended[3]]).toEqual([a, [b, c].sort(), d])
  expect(stopped).toEqual([ended])
  expect(events).toEqual(ended.map((id) => ({ type: "AGENT_CHANGED", at: 7, agent: id, change: "terminated" })))
  expect(ended.map((id) => directory.view(id))).toEqual([undefined, undefined, undefined, undefined])
  expect(directory.findAgent(a)).toMatchObject({
    status: "terminated",
    parentId: "boss",
    ended: { by: "boss", at: 7, because: "It is done." },
  })
  expect(directory.findAgent(d)).toMatchObject({ ended: { because: `Agent '${b}' above it was terminated.` } })
  const left = ["boss", "operator", "root", "second"]
  expect(directory.listAgents().map(({ id }) => id)).toEqual(left)
  expect(directory.listAgents({ includeTerminated: true })).toHaveLength(8)
})

test("a configured agent below a terminated one stays active without a view, and agents below it are terminated", async () => {
  const { directory } = await openDirectory({
    config: { ...config, agents: [...config.agents, { id: "low", role: "dev", parent: "top" }] },
  })
  await directory.createAgent({ id: "top", role: "dev" }, ann)
  await directory.createAgent({ id: "lowest", role: "dev", parentId: "low" }, ann)
  expect(directory.view("lowest")?.ancestors).toHaveLength(2)
  expect(await directory.terminateAgent("top", ann)).toEqual(["top", "lowest"])
  expect(directory.findAgent("low")?.status).toBe("active")
  expect(directory.view("low")).toBeUndefined()
})

test.each<[string, string, string, string | undefined]>([
  ["root", "cannot_terminate_system_agent", "root", undefined],
  ["operator", "cannot_terminate_system_agent", "operator", undefined],
  ["an agent of the configuration", "read_only", "boss", undefined],
  ["an unknown agent", "agent_not_found", "nobody", undefined],
  ["an agent that has ended", "agent_not_found", "ended", undefined],
  ["itself", "not_child_agent", "stored", "stored"],
  ["its parent", "not_child_agent", "boss", "stored"],
  ["a grandchild", "not_child_agent", "below", "boss"],
  ["root, as an agent", "not_child_agent", "root", "boss"],
  ["a configured child", "read_only", "second", "boss"],
  ["an unknown agent, as an agent", "agent_not_found", "nobody", "boss"],
  ["an agent without a parent, as root", "not_child_agent", "alone", "root"],
])("terminating %s is refused", async (_what, code, id, by) => {
  const { directory, stopped, events } = await openDirectory({ config })
  await directory.createAgent({ id: "stored", role: "dev", parentId: "boss" }, ann)
  await directory.createAgent({ id: "below", role: "dev", parentId: "stored" }, ann)
  for (const other of ["ended", "alone"]) await directory.createAgent({ id: other, role: "dev" }, ann)
  await directory.terminateAgent("ended", ann)
  stopped.length = events.length = 0
  expect(await codeOf(directory.terminateAgent(id, by === undefined ? ann : agent(by)))).toBe(code)
  expect([stopped, events]).toEqual([[], []])
})

test("a process stops an agent that another process terminated, after a refresh", async () => {
  const here = await openDirectory({ config })
  const there = await here.again()
  await here.directory.createAgent({ id: "a", role: "dev" }, ann)
  await here.directory.createAgent({ id: "b", role: "dev", parentId: "a" }, ann)
  await there.documents.refresh()
  await here.directory.terminateAgent("a", ann)
  expect([here.stopped, there.stopped]).toEqual([[["a", "b"]], []])
  await there.documents.refresh()
  await there.documents.refresh()
  expect([here.stopped, there.stopped]).toEqual([[["a", "b"]], [["a", "b"]]])
  expect(here.events.filter(({ type }) => type === "AGENT_CHANGED")).toHaveLength(4)
})

test("an agent whose parent is terminated while it is created is terminated too", async () => {
  const here = await openDirectory({ config })
  const there = await here.again()
  await here.directory.createAgent({ id: "a", role: "dev" }, ann)
  const { role } = await here.directory.createRole({ name: "mine" }, agent("a"))
  await there.documents.refresh()
  // The other process terminates the parent after this one has read it and before it writes.
  const put = here.documents.put.bind(here.documents)
  here.documents.put = async (document, by, expected) => {
    here.documents.put = put
    await there.directory.terminateAgent("a", ann)
    return put(document, by, expected)
  }
  expect(await codeOf(here.directory.createAgent({ role: role.id }, agent("a")))).toBe("caller_terminated")
  const children = here.directory.listAgents({ includeTerminated: true }).filter(({ parentId }) => parentId === "a")
  expect(children.map(({ status }) => status)).toEqual(["terminated"])
})

test("agents create only agents.maxAgents agents, agents.maxDepth deep; people may create more", async () => {
  const { directory } = await openDirectory({ limits: { maxAgents: 2, maxDepth: 1 } })
  const { role } = await directory.createRole({ name: "helper", toolGroups: ["org_management"] }, agent("root"))
  const spawn = (by: string) => directory.createAgent({ role: role.id }, agent(by))
  const first = await spawn("root")
  const own = await directory.createRole({ name: "own", toolGroups: ["org_management"] }, agent(first.id))
  const below = directory.createAgent({ role: own.role.id }, agent(first.id))
  expect(await codeOf(below)).toBe("spawn_too_deep")
  const codes = await Promise.all([spawn("root"), spawn("root")].map(codeOf))
  expect(codes).toEqual([undefined, "too_many_agents"])
  await directory.createAgent({ role: role.id }, ann)
  await directory.terminateAgent(first.id, ann)
  expect(await codeOf(spawn("root"))).toBeUndefined()
})

test.each([
  ["docs", undefined, "docs"],
  ["docs/guide/", undefined, "docs/guide"],
  ["docs/./a/../b", undefined, "docs/b"],
  ["../docs", "invalid_folder", undefined],
  ["docs/../../etc", "invalid_folder", undefined],
  ["/etc", "invalid_folder", undefined],
  ["do*s", "invalid_folder", undefined],
])("the folder %j of an agent: %s", async (folder, code, stored) => {
  const { directory } = await openDirectory({ config: { roles: [{ name: "dev" }] } })
  expect(await codeOf(directory.createAgent({ id: "a", role: "dev", folder }, ann))).toBe(code)
  expect(directory.view("a")?.folder).toBe(stored)
})

test("the folder of an agent lies inside its parent's, which it has when it has none of its own", async () => {
  const { directory } = await openDirectory({ config: { roles: [{ name: "dev" }] } })
  const create = (id: string, parentId: string | undefined, folder?: string) =>
    directory.createAgent({ id, role: "dev", parentId, folder }, ann)
  await create("top", undefined, "docs")
  await create("plain", "top")
  await create("inner", "plain", "docs/guide")
  expect(["top", "plain", "inner"].map((id) => directory.view(id)?.folder)).toEqual(["docs", "docs", "docs/guide"])
  expect(await codeOf(create("out", "plain", "docs2"))).toBe("folder_not_held")
})

test("an agent that an agent creates has a name that people can read, and each one another", async () => {
  const { directory } = await openDirectory({ config })
  const {
    role: { id: role },
  } = await directory.createRole({ name: "Test Writer (unit)" }, agent("boss"))
  const ids = await Promise.all([1, 2, 3].map(async () => (await directory.createAgent({ role }, agent("boss"))).id))
  for (const id of ids) expect(id).toMatch(/^test-writer-unit-[a-z2-9]{6}$/)
  expect(new Set(ids).size).toBe(3)
  const {
    role: { id: chinese },
  } = await directory.createRole({ name: "测试" }, agent("boss"))
  expect((await directory.createAgent({ role: chinese }, agent("boss"))).id).toMatch(/^agent-[a-z2-9]{6}$/)
})
