import { beforeEach, expect, test } from "vitest"
import { ToolFailure } from "../../core/ending.ts"
import type { ToolContext } from "../../core/tool.ts"
import { agent, ann, groupIds, openDirectory } from "../../org/testing/open-directory.ts"
import { orgManagementTools } from "./index.ts"

const brief = {
  objective: "Write the report.",
  constraints: ["No more than two pages."],
  inputs: "The figures",
  outputs: { file: "report.md" },
  completion_criteria: ["It is written."],
}

const config = {
  roles: [{ name: "lead", toolGroups: ["org_management", "data"], level: 2, department: "north" }, { name: "other" }],
  agents: [
    { id: "ann's", role: "lead" },
    { id: "bob's", role: "other" },
  ],
}

let groups = groupIds.map((id) => ({ id, description: `${id} tools` }))
let org: Awaited<ReturnType<typeof openDirectory>>
beforeEach(async () => {
  groups = groupIds.map((id) => ({ id, description: `${id} tools` }))
  const live = { has: (id: string) => groups.some((group) => group.id === id), list: () => groups }
  org = await openDirectory({ config, groups: live })
})

const tools = () => orgManagementTools(org.directory, { list: () => groups })
const named = (name: string) => tools().find((tool) => tool.name === name)!

interface Called {
  result?: Record<string, unknown> | null
  code?: string
  sentence?: string
  metadata?: Record<string, unknown>
}

/** Runs a tool as a call does: validates the input first, and the output against the tool's schema. */
async function call(name: string, input: unknown, caller = "ann's", taskId?: string): Promise<Called> {
  const tool = named(name)
  const checked = tool.input.check(input)
  if (!checked.ok) return { code: "invalid_arguments", metadata: { problems: checked.problems } }
  try {
    const result = await tool.execute(checked.value, {
      agent: { id: caller, role: "not asked" },
      taskId,
    } as ToolContext)
    expect(tool.output!.check(result)).toMatchObject({ ok: true })
    return { result: result as Record<string, unknown> }
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    expect(error.message).toMatch(/^[A-Z'].*\.$/s)
    return { code: error.toolCode, sentence: error.message, metadata: error.metadata }
  }
}

async function ownRole(caller = "ann's", name = `of ${caller}`): Promise<string> {
  const { result } = await call("create_role", { name, rolePrompt: "You help." }, caller)
  return result!["id"] as string
}

test("the group has its six tools, which ask a person unless somebody is let through", () => {
  const names = "find_role_by_name create_role spawn_agent spawn_agent_with_task terminate_agent send_message".split(
    " ",
  )
  expect(tools().map(({ name }) => name)).toEqual(names)
  for (const { group, permission } of tools()) expect([group, permission.level]).toEqual(["org_management", "moderate"])
  expect(tools().map(({ effect }) => effect)).toEqual(["read", ...names.slice(1).map(() => "communicate")])
})

test("a model is shown what each tool takes", () => {
  const required = (name: string) => named(name).input.json["required"]
  expect(required("find_role_by_name")).toEqual(["name"])
  expect(required("create_role")).toEqual(["name", "rolePrompt"])
  expect(required("spawn_agent")).toEqual(["roleId", "taskBrief"])
  expect(required("spawn_agent_with_task")).toEqual(["roleId", "taskBrief", "initialMessage"])
  expect(required("terminate_agent")).toEqual(["agentId"])
  expect(required("send_message")).toEqual(["to", "payload"])
  expect(Object.keys(named("send_message").input.json["properties"] as object)).toEqual(["to", "payload", "delayMs"])
  const { taskBrief } = named("spawn_agent").input.json["properties"] as Record<string, Record<string, unknown>>
  expect(taskBrief!["required"]).toEqual(["objective", "constraints", "inputs", "outputs", "completion_criteria"])
  expect(Object.keys(taskBrief!["properties"] as object)).toEqual([
    ...(taskBrief!["required"] as string[]),
    "collaborators",
    "references",
    "priority",
  ])
})

test("find_role_by_name finds a live role by its name and by nothing else", async () => {
  const { role } = await org.directory.createRole({ name: "tester", toolGroups: ["data"] }, ann)
  const { madeBy: _, ...shown } = role
  expect((await call("find_role_by_name", { name: "tester" })).result).toMatchObject(shown)
  expect((await call("find_role_by_name", { name: "lead" })).result).toMatchObject({
    id: "lead",
    createdBy: "configuration",
  })
  for (const name of [role.id, "Tester", "nobody", "__proto__"]) {
    expect(await call("find_role_by_name", { name })).toEqual({ result: null })
  }
  await org.directory.deleteRole("tester", ann)
  expect(await call("find_role_by_name", { name: "tester" })).toEqual({ result: null })
  expect((await call("find_role_by_name", { name: "" })).code).toBe("invalid_arguments")
})

test("create_role makes a role with the groups it is given, and without them says what the role has", async () => {
  const given = { name: "writer", rolePrompt: "You write.", toolGroups: ["data"] }
  const { result } = await call("create_role", given)
  expect(result).toMatchObject({ ...given, created: true, createdBy: "ann's", status: "active", llmServiceId: null })
  expect(result).not.toHaveProperty("hint")
  expect(org.directory.findRole("writer")).toMatchObject({ ...given, level: 2, department: "north" })
  for (const [toolGroups, name] of [
    [undefined, "a"],
    [null, "b"],
  ] as const) {
    const all = await call(
      "create_role",
      { name, rolePrompt: "x", ...(toolGroups === undefined ? {} : { toolGroups }) },
      "root",
    )
    expect(all.result).toMatchObject({ toolGroups: null, hint: "No groups were chosen, so the role has all groups." })
  }
})

test("create_role with an empty list makes a role without tools and says so", async () => {
  for (const agent of ["root", "ann's"]) {
    const { result } = await call("create_role", { name: `idle ${agent}`, rolePrompt: "x", toolGroups: [] }, agent)
    expect(result).toMatchObject({ toolGroups: [], created: true, hint: expect.stringContaining("no tools") as string })
  }
})

test("create_role with a name that lives returns that role, not an error", async () => {
  const { result: first } = await call("create_role", { name: "writer", rolePrompt: "You write." })
  const { result: second } = await call(
    "create_role",
    { name: "writer", rolePrompt: "Mine.", toolGroups: ["nothing"] },
    "bob's",
  )
  expect(second).toMatchObject({ id: first!["id"], rolePrompt: "You write.", createdBy: "ann's", created: false })
})

test.each<[string, unknown, string, string, Record<string, unknown>?]>([
  [
    "a group nobody knows",
    { toolGroups: ["dat", "data"] },
    "ann's",
    "invalid_tool_group_ids",
    { invalidGroups: ["dat"] },
  ],
  [
    "a group the caller does not have",
    { toolGroups: ["system"] },
    "ann's",
    "tool_groups_not_held",
    { invalidGroups: ["system"] },
  ],
  ["a caller that ended", {}, "ended", "caller_terminated"],
  ["a caller nobody knows", {}, "nobody", "caller_terminated"],
  ["a name that cannot be seen", { name: "\u200b" }, "ann's", "invalid_role_name"],
  ["no name", { name: undefined }, "ann's", "invalid_arguments"],
  ["no prompt", { rolePrompt: "" }, "ann's", "invalid_arguments"],
  ["a level", { level: 9 }, "ann's", "invalid_arguments"],
])("create_role with %s ends with %s %s %s", async (_what, change, caller, code, metadata) => {
  await org.directory.createAgent({ id: "ended", role: "lead" }, ann)
  await org.directory.terminateAgent("ended", ann)
  const ended = await call("create_role", { name: "x", rolePrompt: "x", ...(change as object) }, caller)
  expect(ended).toMatchObject({ code, ...(metadata === undefined ? {} : { metadata }) })
})

test("create_role's description names the groups there are when it is read", () => {
  const tool = named("create_role")
  expect(tool.description).toContain("Groups: org_management (org_management tools), data (data tools)")
  groups = [...groups, { id: "chrome", description: "Chrome 浏览器控制工具" }, { id: "bare", description: "" }]
  expect(tool.description).toMatch(/, chrome \(Chrome 浏览器控制工具\), bare\.$/)
  groups = groups.filter(({ id }) => id !== "data")
  expect(tool.description).not.toContain("data tools")
})

test("spawn_agent makes a child of the caller with the role it made, and sends nothing", async () => {
  const roleId = await ownRole()
  const { result } = await call("spawn_agent", { roleId, taskBrief: { ...brief, priority: "high", more: 1 } })
  expect(result).toEqual({ id: expect.any(String), roleId, roleName: "of ann's" })
  const id = result!["id"] as string
  expect(org.directory.findAgent(id)).toMatchObject({
    parentId: "ann's",
    roleId,
    createdBy: "ann's",
    taskBrief: { ...brief, priority: "high", more: 1 },
  })
  expect(org.directory.view(id)).toMatchObject({ groups: ["org_management", "data"], level: 2, department: "north" })
  expect(await org.directory.inbox(id)).toEqual([])
  expect(org.events.some(({ type }) => type === "MESSAGE_SENT")).toBe(false)
})

test("root spawns from roles of the configuration, and each agent begins a task unless the call has one", async () => {
  const spawn = (taskId?: string) => call("spawn_agent", { roleId: "lead", taskBrief: brief }, "root", taskId)
  const task = async (spawned: Called) => org.directory.findAgent(spawned.result!["id"] as string)?.taskId
  const tasks = [await task(await spawn()), await task(await spawn()), await task(await spawn("t7"))]
  expect([new Set(tasks).size, tasks[2]]).toEqual([3, "t7"])
  expect(tasks).not.toContain(undefined)
})

test.each(["spawn_agent", "spawn_agent_with_task"])("%s lists every problem of the brief at once", async (name) => {
  const roleId = await ownRole()
  const taskBrief = { objective: "", constraints: "none", inputs: null, outputs: "" }
  const ended = await call(name, { roleId, taskBrief, ...(name === "spawn_agent" ? {} : { initialMessage: "Go." }) })
  const problems = [
    "Parameter 'taskBrief.objective' too small: expected string to have >=1 characters",
    "Parameter 'taskBrief.constraints' expected array, got string",
    "Parameter 'taskBrief.inputs' is empty",
    "Parameter 'taskBrief.outputs' is empty",
    "Missing required parameter: taskBrief.completion_criteria",
  ]
  expect(ended).toMatchObject({ code: "invalid_task_brief", metadata: { problems } })
  for (const problem of problems) expect(ended.sentence).toContain(problem)
  for (const bad of [undefined, null, "text", []]) {
    const input = { roleId, taskBrief: bad, ...(name === "spawn_agent" ? {} : { initialMessage: "Go." }) }
    expect((await call(name, input)).code).toBe("invalid_task_brief")
  }
  expect(org.directory.listAgents()).toHaveLength(4)
})

test.each(["spawn_agent", "spawn_agent_with_task"])("%s is refused with the codes of its design", async (name) => {
  const own = await ownRole()
  const others = await ownRole("bob's")
  await org.directory.createAgent({ id: "ended", role: "lead" }, ann)
  await org.directory.terminateAgent("ended", ann)
  const spawn = async (roleId: unknown, caller?: string) => {
    const initialMessage = name === "spawn_agent" ? {} : { initialMessage: { text: "Go." } }
    return (await call(name, { roleId, taskBrief: brief, ...initialMessage }, caller)).code
  }
  expect(await spawn("nothing")).toBe("unknown_role")
  expect(await spawn(others)).toBe("not_child_role")
  expect(await spawn("lead")).toBe("not_child_role")
  expect(await spawn("operator", "root")).toBe("not_child_role")
  expect(await spawn(own, "bob's")).toBe("not_child_role")
  expect(await spawn(own, "ended")).toBe("caller_terminated")
  expect(await spawn(own, "nobody")).toBe("invalid_parentAgentId")
  expect(await spawn(undefined)).toBe("invalid_arguments")
  expect((await call(name, { roleId: own, taskBrief: brief, parentAgentId: "root" })).code).toBe("invalid_arguments")
  expect(org.directory.listAgents()).toHaveLength(4)
  expect(await spawn(own)).toBeUndefined()
})

test("spawn_agent_with_task sends the first message from the caller, as a task unless it says otherwise", async () => {
  const roleId = await ownRole()
  for (const [initialMessage, payload] of [
    ["Begin.", { message_type: "task_assignment", message: "Begin." }],
    [{ text: "Begin." }, { message_type: "task_assignment", text: "Begin." }],
    [
      { message_type: "question", text: "Can you?" },
      { message_type: "question", text: "Can you?" },
    ],
  ] as const) {
    const { result } = await call("spawn_agent_with_task", { roleId, taskBrief: brief, initialMessage })
    expect(result).toEqual({ id: expect.any(String), roleId, roleName: "of ann's", messageId: expect.any(String) })
    expect(await org.directory.inbox(result!["id"] as string)).toMatchObject([
      { id: result!["messageId"], from: "ann's", payload },
    ])
  }
})

test.each([undefined, null, "", {}, [], 5])(
  "spawn_agent_with_task with %j as first message spawns nobody",
  async (initialMessage) => {
    const roleId = await ownRole()
    const ended = await call("spawn_agent_with_task", { roleId, taskBrief: brief, initialMessage })
    expect(ended.code).toBe("missing_initial_message")
    expect(org.directory.listAgents()).toHaveLength(4)
  },
)

test("when the first message cannot be kept, the new agent ends again", async () => {
  const roleId = await ownRole()
  const ended = await call("spawn_agent_with_task", { roleId, taskBrief: brief, initialMessage: "x".repeat(1_000_001) })
  expect(ended.code).toBe("payload_too_large")
  expect(org.directory.listAgents()).toHaveLength(4)
  expect(org.stopped).toHaveLength(1)
})

test("terminate_agent ends a child with everyone below it", async () => {
  const spawn = async (caller: string) =>
    (await call("spawn_agent", { roleId: await ownRole(caller), taskBrief: brief }, caller)).result!["id"] as string
  const child = await spawn("ann's")
  const grandchild = await spawn(child)
  const sister = (await call("spawn_agent", { roleId: await ownRole(), taskBrief: brief })).result!["id"] as string
  expect(await call("terminate_agent", { agentId: child, reason: "Done." })).toEqual({
    result: { ok: true, terminatedAgentId: child },
  })
  expect([child, grandchild, sister].map((id) => org.directory.findAgent(id)?.status)).toEqual([
    "terminated",
    "terminated",
    "active",
  ])
  expect(org.directory.findAgent(child)?.ended).toMatchObject({ by: "ann's", because: "Done." })
  expect(org.stopped).toEqual([[child, grandchild]])
  expect((await call("terminate_agent", { agentId: child })).code).toBe("agent_not_found")
  expect((await call("terminate_agent", { agentId: sister }, grandchild)).code).toBe("caller_terminated")
})

test.each([
  ["nobody", "ann's", "agent_not_found"],
  ["bob's", "ann's", "not_child_agent"],
  ["ann's", "ann's", "not_child_agent"],
  ["root", "ann's", "not_child_agent"],
  ["ann's", "root", "not_child_agent"],
  ["operator", "root", "not_child_agent"],
  ["", "ann's", "invalid_arguments"],
])("terminate_agent of %j by %s ends with %s", async (agentId, caller, code) => {
  expect((await call("terminate_agent", { agentId }, caller)).code).toBe(code)
  expect(org.stopped).toEqual([])
})

test("send_message keeps a message from the caller, later when it says so", async () => {
  const { result } = await call("send_message", { to: "bob's", payload: { a: [1] } }, "ann's", "t1")
  const [message] = await org.directory.inbox("bob's")
  expect(message).toMatchObject({ id: result!["messageId"], from: "ann's", payload: { a: [1] }, taskId: "t1" })
  expect((await call("send_message", { to: "bob's", payload: "later", delayMs: 3_600_000 })).code).toBeUndefined()
  expect(await org.directory.inbox("bob's")).toHaveLength(1)
  for (const to of ["root", "user"]) {
    expect((await call("send_message", { to, payload: "hello" })).code).toBeUndefined()
    expect(await org.directory.inbox(to)).toMatchObject([{ payload: "hello" }])
  }
})

test("send_message is refused with the codes of its design", async () => {
  const { directory } = org
  for (const [id, taskId] of [
    ["one", "t1"],
    ["two", "t2"],
    ["ended", "t1"],
  ] as const)
    await directory.createAgent({ id, role: "lead", taskId }, ann)
  await directory.terminateAgent("ended", ann)
  const send = async (to: unknown, from: string, more = {}) =>
    (await call("send_message", { to, payload: "x", ...more }, from, "t2")).code
  expect(await send("nobody", "one")).toBe("unknown_recipient")
  expect(await send("ended", "one")).toBe("unknown_recipient")
  expect(await send("one", "ended")).toBe("sender_terminated")
  expect(await send("root", "ended")).toBe("sender_terminated")
  expect(await send("two", "one")).toBe("cross_task_communication_denied")
  expect(await send("two", "root")).toBeUndefined()
  expect(await send("root", "one")).toBeUndefined()
  expect(await send("user", "one")).toBeUndefined()
  expect(await send("one", "one", { delayMs: -1 })).toBe("invalid_arguments")
  expect((await call("send_message", { to: "one" }, "one")).code).toBe("invalid_arguments")
  expect(await send("one", "one")).toBe("own_inbox")
  expect(await send("root", "one", { payload: "x".repeat(1_000_001) })).toBe("payload_too_large")
})

test("what an approver is shown of each tool says whom and what", async () => {
  const shown = async (name: string, input: unknown) => await named(name).preview!(input)
  expect(await shown("create_role", { name: "w", rolePrompt: "You write.", toolGroups: ["data"] })).toBe(
    "Role w\nGroups: data\n\nYou write.",
  )
  expect(await shown("create_role", { name: "w", rolePrompt: "x" })).toContain("all its maker has")
  expect(await shown("spawn_agent", { roleId: "r", taskBrief: brief })).toContain("Write the report.")
  expect(await shown("spawn_agent_with_task", { roleId: "r", taskBrief: brief, initialMessage: "Go." })).toContain(
    "Go.",
  )
  expect(await shown("send_message", { to: "user", payload: { a: 1 } })).toBe('To user\n\n{\n  "a": 1\n}')
})

test("a failure of the store is not told as a refusal", async () => {
  org.documents.put = () => Promise.reject(new Error("disk full"))
  await expect(call("create_role", { name: "x", rolePrompt: "x" })).rejects.toThrow("disk full")
  expect(await org.directory.createRole({ name: "lead" }, agent("ann's"))).toMatchObject({ created: false })
})
