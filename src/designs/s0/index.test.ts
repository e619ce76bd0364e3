import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import { dataFolder, openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import {
  BUILTIN_TOOL_GROUPS,
  createNoopModuleLogger,
  Runtime,
  ToolGroupManager,
  type RuntimeOptions,
  type ToolGroup,
} from "./index.ts"

const definition = (name: string) => ({
  type: "function" as const,
  function: { name, description: `The tool ${name}.`, parameters: { type: "object", properties: {} } },
})

test("a manager starts empty, and registers, lists, finds and unregisters groups as S0 writes it", () => {
  const manager = new ToolGroupManager()
  expect(manager.getAllGroupIds()).toEqual([])
  const group = {
    description: "Chrome 浏览器控制工具",
    tools: [definition("chrome_launch"), definition("chrome_close")],
  }
  expect(manager.registerGroup("chrome", group)).toEqual({ ok: true })
  expect(manager.listGroups()).toEqual([
    {
      id: "chrome",
      description: "Chrome 浏览器控制工具",
      toolCount: 2,
      tools: ["chrome_launch", "chrome_close"],
      isReserved: false,
    },
  ])
  expect(manager.getToolDefinitions(["chrome"])).toEqual(group.tools)
  expect(manager.getToolGroup("chrome_launch")).toBe("chrome")
  expect(manager.getToolGroup("nothing")).toBeNull()
  expect(manager.isToolInGroups("chrome_close", ["chrome"])).toBe(true)
  expect(manager.isToolInGroups("chrome_close", [])).toBe(false)
  expect(manager.getGroup("chrome")).toMatchObject({ isReserved: false, registeredAt: expect.any(String) })
  expect(manager._groups.get("chrome")?.tools).toEqual(group.tools)
  expect(manager._toolToGroup).toEqual(new Map([["chrome_launch", "chrome"], ["chrome_close", "chrome"]])) // prettier-ignore
  expect(manager.unregisterGroup("chrome")).toEqual({ ok: true })
  expect(manager.getAllGroupIds()).toEqual([])
  expect(manager.getToolGroup("chrome_launch")).toBeNull()
})

test("a manager refuses reserved ids and what is no group, and warns of an id that is there already", () => {
  const manager = new ToolGroupManager()
  expect(manager.registerGroup("mine", { description: "", tools: [] }, true)).toEqual({ ok: true })
  expect(manager._reservedGroupIds).toEqual(new Set(["mine"]))
  expect(manager.registerGroup("mine", { description: "", tools: [] })).toEqual({
    ok: false,
    error: "reserved_group_id",
  })
  for (const wrong of [undefined, null, {}, { description: "x" }, { description: "x", tools: "all" }])
    expect(manager.registerGroup("other", wrong as never)).toEqual({ ok: false, error: "invalid_group_def" })
  manager.registerGroup("other", { description: "", tools: [] })
  expect(manager.registerGroup("other", { description: "", tools: [] })).toMatchObject({
    ok: true,
    warning: "duplicate_group_id",
  })
})

test("the built-in groups are S0's own list, and can be registered as they stand there", () => {
  expect(Object.keys(BUILTIN_TOOL_GROUPS)).toEqual([
    "org_management",
    "artifact",
    "workspace",
    "command",
    "network",
    "context",
    "console",
  ])
  expect(BUILTIN_TOOL_GROUPS.artifact).toEqual({
    description: "工件管理工具",
    tools: ["put_artifact", "get_artifact"],
  })
  expect(BUILTIN_TOOL_GROUPS.network).toEqual({ description: "网络工具", tools: ["http_request"] })
  const manager = new ToolGroupManager()
  for (const [id, group] of Object.entries(BUILTIN_TOOL_GROUPS)) manager.registerGroup(id, group, true)
  expect(manager.listGroups().map(({ id, description, tools }) => [id, { description, tools }])).toEqual(
    Object.entries(BUILTIN_TOOL_GROUPS),
  )
  expect(manager.getToolGroup("run_command")).toBe("command")
})

test("the logger may be left out, silent, or have only some methods", () => {
  const warnings: string[] = []
  for (const logger of [createNoopModuleLogger(), {}, { warn: (text: string) => void warnings.push(text) }])
    expect(new ToolGroupManager({ logger }).getToolDefinitions(["nothing"])).toEqual([])
  expect(warnings).toHaveLength(1)
  createNoopModuleLogger().debug("nothing")
})

test("law: what a manager registers it has, and what it unregisters is gone", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9_]*$/), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(names, fc.stringMatching(/^[a-z][a-z0-9_]*$/), (tools, id) => {
      const manager = new ToolGroupManager()
      expect(manager.registerGroup(id, { description: "d", tools: tools.map(definition) })).toEqual({ ok: true })
      for (const name of tools) expect(manager.getToolGroup(name)).toBe(id)
      expect(manager.getToolDefinitions([id, id]).map((one) => one.function.name)).toEqual(tools)
      expect(manager.unregisterGroup(id)).toEqual({ ok: true })
      for (const name of tools) expect(manager.getToolGroup(name)).toBeNull()
    }),
    { numRuns: 100 },
  )
})

const org = {
  roles: [{ name: "developer", toolGroups: ["workspace", "command", "artifact"] }, { name: "free" }],
  agents: [
    { id: "dev", role: "developer" },
    { id: "anybody", role: "free" },
  ],
}

/** A runtime in a folder of its own. */
async function startRuntime({ config = {}, ...options }: RuntimeOptions = {}): Promise<Runtime> {
  const data = { dir: await dataFolder() }
  const runtime = new Runtime({ ...options, config: { ...config, data } })
  onTestFinished(() => runtime.shutdown())
  return runtime
}

test("a runtime has no groups before init, then the built-in ones with S0's descriptions", async () => {
  const runtime = await startRuntime()
  const { toolGroupManager } = runtime
  expect(toolGroupManager).toBeInstanceOf(ToolGroupManager)
  expect(toolGroupManager.getAllGroupIds()).toEqual([])
  expect(runtime.getToolDefinitionsForAgent("root")).toEqual([])
  await runtime.init()
  for (const [id, { description, tools }] of Object.entries(BUILTIN_TOOL_GROUPS)) {
    expect(toolGroupManager.getGroup(id), id).toMatchObject({ description, isReserved: true })
    expect(toolGroupManager.listGroups().find((group) => group.id === id)?.tools, id).toEqual(
      expect.arrayContaining(tools),
    )
  }
})

test("an agent has the tools of its role's groups, root those of org_management, an unknown agent none", async () => {
  const runtime = await startRuntime({ config: { org } })
  await runtime.init()
  const names = (agentId: string) => runtime.getToolDefinitionsForAgent(agentId).map((one) => one.function.name)
  expect(names("dev")).toEqual(expect.arrayContaining(["read_file", "run_command", "put_artifact"]))
  expect(names("dev")).not.toContain("http_request")
  expect(names("root").sort()).toEqual([...BUILTIN_TOOL_GROUPS.org_management.tools].sort())
  expect(names("anybody")).toEqual(expect.arrayContaining(["read_file", "http_request", "console_print"]))
  expect(names("nobody")).toEqual([])
  const role = runtime.org.getRole(runtime._agents.get("dev")!.roleId)
  expect(role).toMatchObject({ name: "developer", status: "active", llmServiceId: null })
  expect(role?.toolGroups).toEqual(["workspace", "command", "artifact"])
  expect(runtime.org.getRole("nothing")).toBeNull()
})

test("a call outside the groups, of an unknown agent, of none, or of an unknown tool is refused with S0's object", async () => {
  const runtime = await startRuntime({ config: { org } })
  for (const [ctx, toolName, error, message] of [
    [{ agent: { id: "root" } }, "read_file", "tool_not_available", "工具 read_file 对此岗位不可用"],
    [{ agent: { id: "dev" } }, "http_request", "tool_not_available", "工具 http_request 对此岗位不可用"],
    [{ agent: { id: "nobody" } }, "read_file", "tool_not_available", "工具 read_file 对此岗位不可用"],
    [{}, "read_file", "tool_not_available", "工具 read_file 对此岗位不可用"],
    [{ agent: { id: "dev" } }, "fly", "unknown_tool", "工具 fly 不存在"],
  ] as const)
    expect(await runtime.executeToolCall(ctx, toolName, {})).toEqual({ error, toolName, message })
})

test("a call returns what the tool returns; what must be approved is refused unless somebody is asked", async () => {
  const workspace = temporaryFolder()
  const runtime = await startRuntime({ config: { org }, workspace })
  const ctx = { agent: { id: "dev" } }
  expect(await runtime.executeToolCall(ctx, "put_artifact", { type: "text", content: "hello" })).toEqual({
    artifactRef: expect.stringMatching(/^artifact:/),
  })
  const file = { path: "a.txt", content: "hello" }
  expect(await runtime.executeToolCall(ctx, "write_file", file)).toMatchObject({ error: "approval_rejected" })
  expect(await runtime.executeToolCall({ ...ctx, approve: () => true }, "write_file", file)).toMatchObject({
    path: "a.txt",
  })
  expect(await runtime.executeToolCall(ctx, "read_file", { path: "a.txt" })).toMatchObject({ content: "hello" })
})

test("root creates a role and an agent as S0's tools do", async () => {
  const runtime = await startRuntime()
  const root = { agent: { id: "root" } }
  const given = { name: "开发者", rolePrompt: "你是一个开发者", toolGroups: ["workspace", "command", "artifact"] }
  const role = (await runtime.executeToolCall(root, "create_role", given)) as { id: string }
  expect(runtime.org.getRole(role.id)).toMatchObject({
    ...given,
    createdBy: "root",
    status: "active",
    llmServiceId: null,
  })
  expect(await runtime.executeToolCall(root, "find_role_by_name", { name: "开发者" })).toMatchObject({ id: role.id })
})

test("a module becomes a group after the built-in ones, is started with the runtime, and is called with ctx first", async () => {
  const story: unknown[] = []
  const chrome = {
    name: "chrome",
    toolGroupId: "chrome",
    toolGroupDescription: "Chrome 浏览器控制工具",
    getToolDefinitions: () => [definition("chrome_open")],
    executeToolCall: (ctx: { agent: { id: string; roleId: string } }, toolName: string, args: unknown) => {
      story.push([ctx.agent.id, ctx.agent.roleId, toolName, args])
      return { ok: true }
    },
    init: (runtime: unknown, config: unknown) => void story.push(["init", runtime instanceof Runtime, config]),
    shutdown: () => void story.push("shutdown"),
  }
  const tester = {
    roles: [{ name: "tester", toolGroups: ["chrome", "workspace"] }],
    agents: [{ id: "t", role: "tester" }],
  }
  const runtime = await startRuntime({ config: { org: tester, modules: [chrome] } })
  await runtime.init()
  expect(runtime.toolGroupManager.getGroup("chrome")).toMatchObject({
    description: "Chrome 浏览器控制工具",
    toolCount: 1,
  })
  expect(await runtime.executeToolCall({ agent: { id: "t" } }, "chrome_open", {})).toEqual({ ok: true })
  expect(await runtime.executeToolCall({ agent: { id: "root" } }, "chrome_open", {})).toMatchObject({
    error: "tool_not_available",
  })
  await runtime.shutdown()
  expect(story).toEqual([["init", true, {}], ["t", "tester", "chrome_open", {}], "shutdown"])
})

test.each([[["chrome"]], [{ chrome: { maxTabs: 3 } }]])(
  "the reference module is loaded by its name, from a list or with its settings",
  async (modules) => {
    const runtime = await startRuntime({ config: { modules } })
    await runtime.init()
    const chrome = runtime.toolGroupManager.getGroup("chrome")
    expect(chrome).toMatchObject({ description: "Chrome 浏览器控制工具", toolCount: 16 })
    expect(runtime.getToolDefinitionsForAgent("root").map((one) => one.function.name)).not.toContain("chrome_launch")
  },
)

test("a module's own error comes back as it returned it, and what it says about its tools counts", async () => {
  const runtime = await startRuntime()
  const failing = {
    name: "failing",
    toolOptions: { send: { effect: "communicate" } },
    getToolDefinitions: () => [definition("fail"), definition("send")],
    executeToolCall: () => ({ error: "tab_not_found", message: "There is no such tab." }),
  }
  await runtime.init()
  await runtime.moduleLoader.loadModules([failing], runtime)
  expect(await runtime.executeToolCall({ agent: { id: "s0" } }, "fail", {})).toEqual({
    error: "tab_not_found",
    toolName: "fail",
    message: "There is no such tab.",
  })
  expect(await runtime.executeToolCall({ agent: { id: "s0" } }, "send", {})).toMatchObject({
    error: "approval_rejected",
  })
})

test("over an app of the host a runtime speaks S0's language and leaves the app open", async () => {
  const app = await openTestApp({ org }, { approvals: callbackAdapter({ onExecution: () => true }) })
  const runtime = new Runtime({ app })
  await runtime.init()
  expect(app.groups.getGroup("artifact")?.description).toBe("Stored artifacts")
  expect(runtime.toolGroupManager.getGroup("artifact")?.description).toBe("工件管理工具")
  expect(await runtime.executeToolCall({ agent: { id: "root" } }, "read_file", {})).toMatchObject({
    message: "工具 read_file 对此岗位不可用",
  })
  await runtime.shutdown()
  expect(await app.call({ agentId: "dev", tool: "put_artifact", input: { type: "text", content: "x" } })).toMatchObject(
    {
      success: true,
    },
  )
  expect(new ToolGroupManager({ groups: app.groups }).getAllGroupIds()).toEqual(app.groups.getAllGroupIds())
})

test("a group may be written as S0 writes it, without the count of its tools", () => {
  const group: ToolGroup = {
    id: "chrome",
    description: "Chrome",
    tools: [],
    isReserved: false,
    registeredAt: new Date().toISOString(),
  }
  const manager = new ToolGroupManager()
  expect(manager.registerGroup(group.id, group)).toEqual({ ok: true })
  expect(manager.getGroup("chrome")?.toolCount).toBe(0)
})
