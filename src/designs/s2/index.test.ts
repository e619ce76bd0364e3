import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { dataFolder, openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { workingFolder } from "../testing.ts"
import {
  Bash,
  builtinTools,
  Edit,
  ExecutionCancelledError,
  PermissionDeniedError,
  Read,
  ToolAuditLogger,
  ToolDiscovery,
  ToolExecutionEngine,
  ToolNotFoundError,
  ToolPermissionManager,
  ToolRegistry,
  type Agent,
  type BuiltinTool,
  type ToolPermissions,
  type ToolRegistryOptions,
} from "./index.ts"

const developer: Agent = { id: "a1", role: "developer", departmentId: "north", level: 2 }
const intern: Agent = { id: "a2", role: "intern", departmentId: "south", level: 0 }

/** A registry in a folder of its own. */
async function newRegistry(options: ToolRegistryOptions = {}): Promise<ToolRegistry> {
  const config = { data: { dir: await dataFolder() } }
  const registry = new ToolRegistry({ agents: [developer, intern], config, ...options })
  onTestFinished(() => registry.close())
  return registry
}

const open: ToolPermissions = {
  allowedRoles: [],
  allowedDepartments: [],
  minLevel: 0,
  requireConfirmation: false,
  isDangerous: false,
  rateLimit: { maxCallsPerMinute: 60, maxCallsPerHour: 600 },
}

function greet(permissions: Partial<ToolPermissions> = {}, more: Partial<BuiltinTool> = {}): BuiltinTool {
  return {
    id: "greet",
    name: "Greet",
    description: "Greet somebody.",
    category: "utility",
    type: "builtin",
    inputSchema: { name: "string", path: "string?" },
    outputSchema: { text: "string" },
    version: "1.0.0",
    author: "Ada",
    tags: ["words"],
    permissions: { ...open, ...permissions },
    handler: ({ name }) => ({ text: `Hello, ${String(name)}!` }),
    ...more,
  }
}

test("a registry starts empty; tools are registered, found, listed and described as S2 writes it", async () => {
  const registry = await newRegistry()
  expect(registry.listTools()).toEqual([])
  expect(registry.getTool("Greet")).toBeUndefined()
  const given = greet()
  registry.registerBuiltin(given)
  registry.registerMCP("github", [
    { name: "create_issue", description: "Create an issue.", inputSchema: { type: "object" } },
  ])
  registry.register(greet({}, { name: "Wave", type: "custom", category: "communication" }))
  expect(registry.getTool("Greet")).toMatchObject({ ...given, id: expect.any(String), type: "builtin" })
  expect(registry.getBuiltinTool("Greet")?.name).toBe("Greet")
  expect(registry.getBuiltinTool("Wave")).toBeUndefined()
  expect(registry.getTool("mcp:github:create_issue")).toMatchObject({ type: "mcp", mcpName: "github" })
  const names = (filter?: Parameters<ToolRegistry["listTools"]>[0]) =>
    registry.listTools(filter).map(({ name }) => name)
  expect(names()).toEqual(["Greet", "mcp:github:create_issue", "Wave"])
  expect(names({ type: "mcp" })).toEqual(["mcp:github:create_issue"])
  expect(names({ category: "utility" })).toEqual(["Greet"])
  expect(names({ category: "utility", type: "custom" })).toEqual([])
  expect(registry.getToolDescriptions().find(({ name }) => name === "Greet")).toEqual({
    name: "Greet",
    description: "Greet somebody.",
    parameters: expect.objectContaining({ type: "object", required: ["name"] }),
  })
})

test("a tool of the same name is replaced, and an unknown type is refused", async () => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet())
  registry.registerBuiltin(greet({}, { description: "Greet again." }))
  expect(registry.listTools().map(({ description }) => description)).toEqual(["Greet again."])
  expect(() => registry.register(greet({}, { type: "other" as never }))).toThrow("Unknown tool type: other")
})

test("the tools of S2's chapter 3 are there to register, with their names, categories and permissions", async () => {
  const registry = await newRegistry()
  for (const one of builtinTools) registry.registerBuiltin(one)
  expect(registry.listTools().map(({ name, category }) => [name, category])).toEqual([
    ["Read", "file"],
    ["Edit", "file"],
    ["Glob", "file"],
    ["Grep", "search"],
    ["Bash", "execution"],
    ["NotebookRead", "data"],
    ["NotebookEdit", "data"],
    ["TodoWrite", "utility"],
  ])
  expect(registry.getTool("Edit")?.permissions).toMatchObject({
    requireConfirmation: true,
    isDangerous: true,
    rateLimit: { maxCallsPerMinute: 30, maxCallsPerHour: 500 },
  })
})

test("built-in, MCP and custom tools run with the parameters and the context of the call", async () => {
  const registry = await newRegistry()
  const seen: unknown[] = []
  registry.registerBuiltin(
    greet(
      {},
      { handler: (params, { projectId, agent }) => (seen.push([params, projectId, agent.id]), { text: "builtin" }) },
    ),
  )
  registry.register(greet({}, { name: "Wave", type: "custom", handler: () => ({ text: "custom" }) }))
  const tools = [{ name: "create_issue", permissions: open }, { name: "delete_issue" }]
  registry.registerMCP("github", tools)
  const engine = new ToolExecutionEngine(registry, {
    getMCPClient: (mcpName) => ({
      callTool: (name, params) => (seen.push([mcpName, name, params]), Promise.resolve({ number: 7 })),
    }),
  })
  const context = { projectId: "p1" }
  expect(await engine.execute("a1", "Greet", { name: "Ada" }, context)).toEqual({ text: "builtin" })
  expect(await engine.execute("a1", "Wave", { name: "Ada" }, context)).toEqual({ text: "custom" })
  expect(await engine.execute("a1", "mcp:github:create_issue", { title: "x" }, context)).toEqual({ number: 7 })
  expect(seen).toEqual([
    [{ name: "Ada" }, "p1", "a1"],
    ["github", "create_issue", { title: "x" }],
  ])
  await expect(engine.execute("a1", "mcp:github:delete_issue", {}, context)).rejects.toThrow()
  expect(seen).toHaveLength(2)
})

test("S2's own Read is run by the lifecycle, in its dialect", async () => {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "notes.md"), "one\ntwo\n")
  const registry = await newRegistry({ workspace })
  registry.registerBuiltin(Read)
  registry.registerBuiltin(Edit)
  const asked: unknown[] = []
  const engine = new ToolExecutionEngine(registry, {
    requestConfirmation: (_agent, { name }, params) => (asked.push([name, params]), true),
  })
  expect(await engine.execute("a1", "Read", { file_path: "notes.md", offset: 2, limit: 1 }, {})).toMatchObject({
    content: "two\n",
    total_lines: 2,
    encoding: "utf-8",
  })
  await expect(engine.execute("a1", "Read", { file_path: "/etc/passwd" }, {})).rejects.toThrow(PermissionDeniedError)
  await expect(engine.execute("a1", "Bash", { command: "ls" }, {})).rejects.toThrow(ToolNotFoundError)
  const edit = { file_path: "notes.md", old_string: "one", new_string: "three" }
  expect(await engine.execute("a1", "Edit", edit, {})).toMatchObject({ diff: expect.stringContaining("+three") })
  expect(asked).toEqual([["Edit", edit]])
  const listed = await new ToolAuditLogger(registry).list()
  expect(listed.map(({ toolName, success }) => [toolName, success])).toEqual([
    ["Edit", true],
    ["Bash", false],
    ["Read", false],
    ["Read", true],
  ])
  expect(listed[0]?.params).toMatchObject({ path: "notes.md" })
})

test("a call denied by role, department or level throws the reason alone, and checkPermission gives the same", async () => {
  const registry = await newRegistry()
  const engine = new ToolExecutionEngine(registry)
  const manager = new ToolPermissionManager(registry)
  for (const [permissions, reason] of [
    [{ allowedRoles: ["developer"] }, "Role intern not in allowed roles"],
    [{ allowedDepartments: ["north"] }, "Department south not allowed"],
    [{ minLevel: 2 }, "Level 0 below minimum 2"],
  ] as const) {
    const given = greet(permissions)
    registry.registerBuiltin(given)
    const denied: unknown = await engine.execute("a2", "Greet", { name: "Ada" }, {}).catch((error: unknown) => error)
    expect(denied).toBeInstanceOf(PermissionDeniedError)
    expect((denied as Error).message).toBe(reason)
    expect(await manager.checkPermission(intern, given, { name: "Ada" })).toEqual({ allowed: false, reason })
    expect(await engine.execute("a1", "Greet", { name: "Ada" }, {})).toEqual({ text: "Hello, Ada!" })
    expect(await manager.checkPermission(developer, given, { name: "Ada" })).toEqual({
      allowed: true,
      requiresConfirmation: false,
    })
  }
})

test("a tool of S2's own can be called by itself, in the working folder and no further", async () => {
  const folder = await workingFolder()
  writeFileSync(join(folder, "notes.md"), "one\n")
  expect(await Read.handler({ file_path: "notes.md" })).toMatchObject({ content: "one\n" })
  await expect(Read.handler({ file_path: "/etc/passwd" })).rejects.toThrow(PermissionDeniedError)
  await expect(Edit.handler({ file_path: "notes.md", old_string: "one", new_string: "two" })).rejects.toThrow(
    ExecutionCancelledError,
  )
  expect(readFileSync(join(folder, "notes.md"), "utf8")).toBe("one\n")
})

test("a permission manager of one's own is asked first and can deny more, a logger stands after it", async () => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet({ minLevel: 1 }))
  class OwnManager extends ToolPermissionManager {
    override async checkPermission(agent: Agent, given: BuiltinTool, params: unknown) {
      const named = (params as { name: string }).name
      return named === "Eve" ? { allowed: false, reason: "Not Eve" } : super.checkPermission(agent, given, params)
    }
  }
  const ended: string[] = []
  const logger = { logStart() {}, logSuccess: () => void ended.push("success"), logFailure() {} }
  const permissionManager = new OwnManager(registry)
  const engine = new ToolExecutionEngine(registry, permissionManager, logger)
  await expect(engine.execute("a1", "Greet", { name: "Eve" }, {})).rejects.toThrow(/^Not Eve$/)
  await expect(engine.execute("a2", "Greet", { name: "Ada" }, {})).rejects.toThrow("Level 0 below minimum 1")
  expect(await engine.execute("a1", "Greet", { name: "Ada" }, {})).toEqual({ text: "Hello, Ada!" })
  expect(ended).toEqual(["success"])
  // Calls it denies are in the audit log too.
  const rows = await (await registry.appFor(developer).open()).audit.list({ tool: "Greet" })
  expect(rows.filter(({ code }) => code === "aborted")).toHaveLength(1)
  const same = new ToolExecutionEngine({ registry, permissionManager, auditLogger: logger })
  await expect(same.execute("a1", "Greet", { name: "Eve" }, {})).rejects.toThrow(/^Not Eve$/)
})

test("checkPermission knows agents by what it is given, and says whether a person must confirm", async () => {
  const registry = await newRegistry({ agents: [] })
  const manager = new ToolPermissionManager(registry)
  const given = greet({ minLevel: 3, isDangerous: true })
  registry.registerBuiltin(given)
  expect(await manager.checkPermission({ ...developer, level: 2 }, given, { name: "Ada" })).toMatchObject({
    reason: "Level 2 below minimum 3",
  })
  expect(await manager.checkPermission({ ...developer, level: 3 }, given, { name: "Ada" })).toEqual({
    allowed: true,
    requiresConfirmation: true,
  })
})

test.each([
  [{ maxCallsPerMinute: 2, maxCallsPerHour: 100 }, "Rate limit exceeded: 2 calls per minute"],
  [{ maxCallsPerMinute: 100, maxCallsPerHour: 2 }, "Rate limit exceeded: 2 calls per hour"],
])("the third call within %o throws S2's sentence", async (rateLimit, reason) => {
  const registry = await newRegistry()
  const given = greet({ rateLimit })
  registry.registerBuiltin(given)
  const engine = new ToolExecutionEngine(registry)
  for (let call = 0; call < 2; call++) await engine.execute("a1", "Greet", { name: "Ada" }, {})
  const limited: unknown = await engine.execute("a1", "Greet", { name: "Ada" }, {}).catch((error: unknown) => error)
  expect(limited).toBeInstanceOf(PermissionDeniedError)
  expect((limited as Error).message).toBe(reason)
  expect(await new ToolPermissionManager(registry).checkPermission(developer, given, { name: "Ada" })).toEqual({
    allowed: false,
    reason,
  })
})

test("the path that a call names is checked", async () => {
  const registry = await newRegistry({ workspace: temporaryFolder() })
  registry.registerBuiltin(greet())
  const manager = new ToolPermissionManager(registry)
  const given = registry.getTool("Greet")!
  expect(await manager.checkPermission(developer, given, { name: "Ada", path: "/etc/passwd" })).toMatchObject({
    allowed: false,
    reason: expect.stringContaining("/etc/passwd"),
  })
  expect(await manager.checkPermission(developer, given, { name: "Ada", path: "notes.md" })).toMatchObject({
    allowed: true,
  })
})

test.each([
  ["the engine's option", "option"],
  ["the context", "context"],
  ["a method of a subclass", "subclass"],
] as const)("a dangerous tool is confirmed by %s, or cancelled", async (_way, way) => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet({ isDangerous: true }))
  let answer = true
  const asked: unknown[] = []
  const requestConfirmation = (agent: Agent, { name }: { name: string }, params: unknown) => {
    asked.push([agent, name, params])
    return answer
  }
  class OwnEngine extends ToolExecutionEngine {
    protected override requestConfirmation = requestConfirmation
  }
  const engine = way === "subclass" ? new OwnEngine(registry) : new ToolExecutionEngine(registry, way === "option" ? { requestConfirmation } : {}) // prettier-ignore
  const context = way === "context" ? { requestConfirmation } : {}
  expect(await engine.execute("a1", "Greet", { name: "Ada" }, context)).toEqual({ text: "Hello, Ada!" })
  answer = false
  await expect(engine.execute("a1", "Greet", { name: "Ada" }, context)).rejects.toThrow(ExecutionCancelledError)
  expect(asked).toEqual(Array.from({ length: 2 }, () => [developer, "Greet", { name: "Ada" }]))
})

test("a call that nobody confirms is cancelled, and its tool has not run", async () => {
  const registry = await newRegistry()
  let ran = false
  registry.registerBuiltin(greet({ requireConfirmation: true }, { handler: () => (ran = true) }))
  await expect(new ToolExecutionEngine(registry).execute("a1", "Greet", { name: "Ada" }, {})).rejects.toThrow(
    ExecutionCancelledError,
  )
  expect(ran).toBe(false)
})

test("what is unknown is S2's error, and what a handler throws comes back as it was thrown", async () => {
  const registry = await newRegistry()
  const thrown = new RangeError("too far")
  registry.registerBuiltin(greet({}, { handler: () => { throw thrown } })) // prettier-ignore
  const engine = new ToolExecutionEngine(registry)
  await expect(engine.execute("a1", "Fly", {}, {})).rejects.toThrow(ToolNotFoundError)
  await expect(engine.execute("a1", "Greet", { name: "Ada" }, {})).rejects.toBe(thrown)
  await expect(engine.execute("nobody", "Greet", { name: "Ada" }, {})).rejects.toThrow(PermissionDeniedError)
})

test("an engine may find its agents itself", async () => {
  const registry = await newRegistry({ agents: [], getAgent: () => intern })
  registry.registerBuiltin(greet({ allowedRoles: ["developer"] }))
  const agents = new Map([["x", { ...developer, id: "x" }], ["y", { ...intern, id: "y" }]]) // prettier-ignore
  const engine = new ToolExecutionEngine(registry, { getAgent: (id) => agents.get(id) })
  class OwnDiscovery extends ToolDiscovery {
    protected override getAgent(id: string) {
      return agents.get(id)
    }
  }
  expect(await new OwnDiscovery(registry).discoverToolsForAgent("x")).toHaveLength(1)
  expect(await new OwnDiscovery(registry).discoverToolsForAgent("y")).toEqual([])
  expect(await engine.execute("x", "Greet", { name: "Ada" }, {})).toEqual({ text: "Hello, Ada!" })
  await expect(engine.execute("y", "Greet", { name: "Ada" }, {})).rejects.toThrow("Role intern not in allowed roles")
})

test("an agent discovers the tools that its role, department and level allow", async () => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet())
  registry.registerBuiltin(greet({ allowedRoles: ["developer"] }, { name: "ByRole" }))
  registry.registerBuiltin(greet({ allowedDepartments: ["north"] }, { name: "ByDepartment" }))
  registry.registerBuiltin(greet({ minLevel: 1 }, { name: "ByLevel" }))
  registry.registerBuiltin(Read)
  const discovery = new ToolDiscovery(registry)
  const names = async (agentId: string) => (await discovery.discoverToolsForAgent(agentId)).map(({ name }) => name)
  expect(await names("a1")).toEqual(["Greet", "ByRole", "ByDepartment", "ByLevel", "Read"])
  expect(await names("a2")).toEqual(["Greet", "Read"])
  expect(await names("nobody")).toEqual([])
})

test("the audit log has every execution, and a logger is told of it in S2's order, without secrets", async () => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet({}, { inputSchema: { name: "string", token: "string?" } }))
  registry.registerBuiltin(greet({}, { name: "Fail", handler: () => { throw new Error("no") } })) // prettier-ignore
  const told: [string, Record<string, unknown>][] = []
  const auditLogger = {
    logStart: (entry: object) => void told.push(["start", { ...entry }]),
    logSuccess: (entry: object) => void told.push(["success", { ...entry }]),
    logFailure: (entry: object) => void told.push(["failure", { ...entry }]),
  }
  const engine = new ToolExecutionEngine(registry, { auditLogger })
  await engine.execute("a1", "Greet", { name: "Ada", token: "very-secret" }, {})
  await expect(engine.execute("a1", "Fail", { name: "Ada" }, {})).rejects.toThrow("no")
  expect(told.map(([kind]) => kind)).toEqual(["start", "success", "start", "failure"])
  expect(told[0]?.[1]).toEqual({
    id: expect.any(String),
    agentId: "a1",
    toolName: "Greet",
    params: { name: "Ada", token: "***" },
    timestamp: expect.any(Number),
  })
  expect(told[1]?.[1]).toMatchObject({
    id: told[0]?.[1]["id"],
    duration: expect.any(Number),
    result: expect.stringContaining("Hello, Ada!"),
  })
  expect(told[3]?.[1]).toMatchObject({ duration: expect.any(Number), error: expect.stringContaining("no") })
  const listed = await new ToolAuditLogger(registry).list()
  expect(listed.map(({ toolName, success }) => [toolName, success])).toEqual([["Fail", false], ["Greet", true]]) // prettier-ignore
})

test("over an app of the host S2's classes use its tools, agents and rules", async () => {
  const org = {
    roles: [{ name: "developer", level: 2, dialect: "claude" as const }],
    agents: [{ id: "d", role: "developer" }],
  }
  const app = await openTestApp({ org, rules: [{ deny: "probe", because: "It is Sunday." }] })
  const registry = new ToolRegistry({ app })
  app.registry.register(tool({ execute: () => 1 }))
  registry.registerBuiltin(greet())
  const engine = new ToolExecutionEngine(registry)
  expect(await engine.execute("d", "Greet", { name: "Ada" }, {})).toEqual({ text: "Hello, Ada!" })
  await expect(engine.execute("d", "probe", {}, {})).rejects.toThrow("It is Sunday.")
  expect((await new ToolDiscovery(registry).discoverToolsForAgent("d")).map(({ name }) => name)).toContain("Greet")
})

test("a permission manager without a registry checks tools without a rate limit, also as getTool gives them", async () => {
  await workingFolder()
  const registry = await newRegistry()
  const { rateLimit: _none, ...permissions } = open
  registry.registerBuiltin(greet({}, { permissions }))
  const given = registry.getTool("Greet")!
  expect(given.permissions.rateLimit).toEqual({ maxCallsPerMinute: Infinity, maxCallsPerHour: Infinity })
  const manager = new ToolPermissionManager()
  expect(await manager.checkPermission(developer, given, { name: "Ada" })).toMatchObject({ allowed: true })
})

test("what getTool gives can be registered again, in the same registry and in another one", async () => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet())
  registry.register(greet({}, { name: "Wave", type: "custom" }))
  const other = await newRegistry()
  for (const name of ["Greet", "Wave"])
    for (const into of [registry, other]) {
      into.register(registry.getTool(name)!)
      const engine = new ToolExecutionEngine(into)
      expect(await engine.execute("a1", name, { name: "Ada" }, {})).toEqual({ text: "Hello, Ada!" })
    }
  const app = await openTestApp()
  app.registry.register(tool({ name: "count", execute: () => 1 }))
  const overApp = new ToolRegistry({ app })
  overApp.register(overApp.getTool("count")!)
  expect(await overApp.getTool("count")!.handler({}, {} as never)).toBe(1)
})

test.each([
  [{ type: "string" }, "text"],
  [{ type: "integer", minimum: 1 }, 5],
  [{ type: "array", items: { type: "string" } }, ["a"]],
  [{}, "anything"],
  [
    { type: "string", title: "string" },
    { type: "a", title: "b" },
  ],
  [
    { type: "string", kind: "'a' | 'b'" },
    { type: "a", kind: "b" },
  ],
])("the result of a tool is checked by its outputSchema %j", async (outputSchema, result) => {
  const registry = await newRegistry()
  registry.registerBuiltin(greet({}, { outputSchema, handler: () => result }))
  registry.registerBuiltin(greet({}, { name: "Wrong", outputSchema, handler: () => false }))
  const engine = new ToolExecutionEngine(registry)
  expect(await engine.execute("a1", "Greet", { name: "Ada" }, {})).toEqual(result)
  const wrong = engine.execute("a1", "Wrong", { name: "Ada" }, {})
  if (Object.keys(outputSchema).length > 0) await expect(wrong).rejects.toThrow()
  else expect(await wrong).toBe(false)
})

test("a copy of a built-in tool asks once, has its own permissions and works in the registry's workspace", async () => {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "notes.md"), "one\n")
  const registry = await newRegistry({ workspace })
  registry.registerBuiltin({ ...Edit, permissions: { ...Edit.permissions, minLevel: 1 } })
  registry.register({ ...Read, name: "Look", type: "custom" })
  const asked: unknown[] = []
  let answer = true
  const engine = new ToolExecutionEngine(registry, {
    requestConfirmation: (_agent, { name }) => (asked.push(name), answer),
  })
  const edit = { file_path: "notes.md", old_string: "one", new_string: "two" }
  expect(await engine.execute("a1", "Edit", edit, {})).toMatchObject({ diff: expect.stringContaining("+two") })
  expect(asked).toEqual(["Edit"])
  expect(await engine.execute("a1", "Look", { file_path: "notes.md" }, {})).toMatchObject({ content: "two\n" })
  await expect(engine.execute("a2", "Edit", edit, {})).rejects.toThrow("Level 0 below minimum 1")
  await expect(engine.execute("a1", "Look", { file_path: "/etc/passwd" }, {})).rejects.toThrow()
  answer = false
  const back = { ...edit, old_string: "two", new_string: "one" }
  await expect(engine.execute("a1", "Edit", back, {})).rejects.toThrow(ExecutionCancelledError)
  expect(readFileSync(join(workspace, "notes.md"), "utf8")).toBe("two\n")
})

test("Bash is for developers, devops and architects only, as S2 lists it", async () => {
  const registry = await newRegistry({ workspace: temporaryFolder() })
  registry.registerBuiltin(Bash)
  expect(registry.getTool("Bash")?.permissions.allowedRoles).toEqual(["developer", "devops", "architect"])
  const engine = new ToolExecutionEngine(registry, { requestConfirmation: () => true })
  await expect(engine.execute("a2", "Bash", { command: "echo hi" }, {})).rejects.toThrow(
    "Role intern not in allowed roles",
  )
  expect(await engine.execute("a1", "Bash", { command: "echo hi" }, {})).toMatchObject({ stdout: "hi\n" })
})

test.each([
  ["a tool of one's own", "Greet", { name: "Ada" }],
  ["a built-in tool", "Edit", { file_path: "notes.md", old_string: "one", new_string: "two" }],
  ["a built-in tool that only reads", "Read", { file_path: "notes.md" }],
])("logStart is awaited before %s runs, and if it throws nothing runs", async (_which, name, params) => {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "notes.md"), "one\n")
  const registry = await newRegistry({ workspace })
  const story: unknown[] = []
  registry.registerBuiltin(greet({}, { handler: () => (story.push("ran"), { text: "" }) }))
  registry.registerBuiltin(Edit)
  registry.registerBuiltin(Read)
  const content = () => readFileSync(join(workspace, "notes.md"), "utf8")
  const full = new Error("The log is full.")
  let isFull = true
  const auditLogger = {
    async logStart({ toolName }: { toolName: string }) {
      await new Promise(setImmediate)
      story.push(["start", toolName, content()])
      if (isFull) throw full
    },
    logSuccess: () => void story.push("success"),
    logFailure: () => void story.push("failure"),
  }
  const engine = new ToolExecutionEngine(registry, { auditLogger, requestConfirmation: () => true })
  await expect(engine.execute("a1", name, params, {})).rejects.toBe(full)
  const start = ["start", name, "one\n"]
  expect([story, content()]).toEqual([[start], "one\n"])
  isFull = false
  await engine.execute("a1", name, params, {})
  expect(story).toEqual([start, start, ...(name === "Greet" ? ["ran"] : []), "success"])
  expect(content()).toBe(name === "Edit" ? "two\n" : "one\n")
})

test("a confirmation that a manager of one's own requires is asked once, and without anybody to ask the call is cancelled", async () => {
  const registry = await newRegistry()
  let ran = 0
  registry.registerBuiltin(greet({}, { handler: () => (ran++, { text: "" }) }))
  registry.registerBuiltin(greet({ isDangerous: true }, { name: "Danger", handler: () => (ran++, { text: "" }) }))
  const permissionManager = { checkPermission: () => Promise.resolve({ allowed: true, requiresConfirmation: true }) }
  let answer = true
  const asked: string[] = []
  const requestConfirmation = (_agent: Agent, { name }: { name: string }) => (asked.push(name), answer)
  const engine = new ToolExecutionEngine(registry, { permissionManager, requestConfirmation })
  for (const name of ["Greet", "Danger"]) await engine.execute("a1", name, { name: "Ada" }, {})
  expect([asked, ran]).toEqual([["Greet", "Danger"], 2])
  answer = false
  for (const name of ["Greet", "Danger"])
    await expect(engine.execute("a1", name, { name: "Ada" }, {})).rejects.toThrow(ExecutionCancelledError)
  const alone = new ToolExecutionEngine(registry, { permissionManager })
  for (const name of ["Greet", "Danger"])
    await expect(alone.execute("a1", name, { name: "Ada" }, {})).rejects.toThrow(ExecutionCancelledError)
  expect([asked.length, ran]).toEqual([4, 2])
})
