import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "./approvals/ask/callback.ts"
import type { Logger } from "./core/logger.ts"
import { ToolCategory } from "./core/tool.ts"
import { fromModule } from "./registry/adapters.ts"
import { deferred, openTestApp, temporaryFolder, tool } from "./testing/test-app.ts"

// Requirements of the source designs that only the whole app can prove.

test("the app has the built-in groups before any tool is called, with their tools in them", async () => {
  const system = await openTestApp()
  expect(system.groups.getAllGroupIds()).toEqual(
    expect.arrayContaining(["org_management", "artifact", "workspace", "command", "network", "context", "console"]),
  )
  expect(system.groups.isReservedGroup("artifact")).toBe(true)
  const artifact = system.groups.getToolDefinitions(["artifact"]).map((definition) => definition.function.name)
  expect(artifact).toEqual(expect.arrayContaining(["get_artifact", "put_artifact"]))
  const network = system.groups.getToolDefinitions(["network"]).map((definition) => definition.function.name)
  expect(network).toContain("http_request")
})

test("a module's tools become a group, are seen and called only by roles that have it", async () => {
  const system = await openTestApp({
    org: {
      roles: [
        { name: "tester", toolGroups: ["clock"] },
        { name: "other", toolGroups: ["data"] },
      ],
      agents: [
        { id: "t", role: "tester" },
        { id: "o", role: "other" },
      ],
    },
  })
  const called: unknown[] = []
  const clock = {
    name: "clock",
    toolGroupDescription: "Clock tools",
    getToolDefinitions: () => [
      {
        type: "function" as const,
        function: { name: "clock_now", description: "Tell the time.", parameters: { type: "object", properties: {} } },
      },
    ],
    executeToolCall: (context: { agent: { id: string } }, name: string, args: unknown) => (
      called.push([context.agent.id, name, args]),
      { now: 1 }
    ),
  }
  system.registry.registerMany(fromModule(clock, { effect: "none" }))
  expect(system.toolsFor("t").map((definition) => definition.function.name)).toEqual(["clock_now"])
  expect(await system.call({ agentId: "t", tool: "clock_now", input: {} })).toMatchObject({ result: { now: 1 } })
  expect(await system.call({ agentId: "o", tool: "clock_now", input: {} })).toMatchObject({
    code: "tool_not_available",
  })
  expect(called).toEqual([["t", "clock_now", {}]])
})

test("a refusal is returned, not thrown: code, tool name and S0's sentence, and the tool has not run", async () => {
  const system = await openTestApp({
    language: "zh",
    org: { roles: [{ name: "dev", toolGroups: ["data"] }], agents: [{ id: "d", role: "dev" }] },
  })
  let ran = false
  system.registry.register(tool({ group: "secret", execute: () => (ran = true) }))
  expect(await system.call({ agentId: "d", tool: "probe", input: {} })).toMatchObject({
    code: "tool_not_available",
    toolName: "probe",
    error: "工具 probe 对此岗位不可用",
  })
  expect(ran).toBe(false)
})

test("what a model is sent are its role's tools and no others; without groups all of them", async () => {
  const system = await openTestApp({
    org: {
      roles: [{ name: "dev", toolGroups: ["data"] }, { name: "free" }],
      agents: [
        { id: "d", role: "dev" },
        { id: "f", role: "free" },
      ],
    },
  })
  const sent = (agent: string) => system.toolsFor(agent, { format: "anthropic" }).map(({ name }) => name)
  const data = system.registry.list().filter(({ group }) => group === "data")
  expect(sent("d")).toContain("base64_decode")
  expect(sent("d")).toEqual(data.map(({ name }) => name).sort())
  expect(sent("f")).toEqual(sent("operator"))
  expect(await system.call({ agentId: "d", tool: "sleep", input: { duration: 0 } })).toMatchObject({
    code: "tool_not_available",
  })
})

test("the refusal names the tool and says that it is not available to this role", async () => {
  const system = await openTestApp()
  const { error } = await system.call({ agentId: "root", tool: "sleep", input: {} })
  expect(error).toMatch(/sleep.*is not available to this role/)
})

test("the level decides who is asked, before and after, and a new adapter is all it takes", async () => {
  const story: string[] = []
  const adapter = callbackAdapter({
    onExecution: ({ tool: name }) => (story.push(`may ${name} run`), true),
    onResult: ({ tool: name }) => (story.push(`may ${name} be seen`), true),
  })
  const system = await openTestApp({}, { approvals: adapter })
  system.registry.register(
    tool({
      permission: { level: "sensitive", requireResultApproval: "always" },
      execute: () => (story.push("runs"), 1),
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ success: true })
  expect(story).toEqual(["may probe run", "runs", "may probe be seen"])
})

test("an executor registers tools and runs them for its agent; a yes leads to the run", async () => {
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution: () => true }) })
  const executor = system.executor("operator")
  executor.register(tool({ permission: { level: "sensitive" }, execute: (_input, { agent }) => agent.id }))
  expect(await executor.execute("probe", {})).toMatchObject({ result: "operator" })
})

test("every built-in tool has a level that fits what it does, and describes itself and each parameter", async () => {
  const system = await openTestApp()
  for (const { name, group, effect, permission, description, input } of system.registry.list()) {
    expect(description.length, name).toBeGreaterThan(10)
    for (const [parameter, schema] of Object.entries((input.json["properties"] as object) ?? {})) {
      expect((schema as { description?: string }).description, `${name} ${parameter}`).toBeTruthy()
    }
    // Agents other than root need approval to read or change the organisation.
    const usual = effect === "none" || effect === "read" ? "public" : permission.level
    expect(permission.level, name).toBe(group === "org_management" ? "moderate" : usual)
    expect(effect, name).toBeDefined()
  }
  expect(system.registry.require("set_env").permission.level).toBe("moderate")
})

test("a tool that does not say what it does is sensitive", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ name: "silent", effect: undefined as never, execute: () => 1 }))
  system.registry.register(tool({ name: "runs", effect: "execute", execute: () => 1 }))
  for (const name of ["silent", "runs"]) expect(system.registry.require(name).permission.level).toBe("sensitive")
})

test("discovery lists what role, department and level allow, and follows every change by itself", async () => {
  const system = await openTestApp({
    org: { roles: [{ name: "dev" }], agents: [{ id: "d", role: "dev", department: "north", level: 1 }] },
  })
  const names = () => system.discovery.discoverToolsForAgent("d").map(({ name }) => name)
  const before = names()
  system.registry.register(tool({ name: "a", permission: { allowedRoles: ["dev"] }, execute: () => 1 }))
  system.registry.register(tool({ name: "b", permission: { allowedRoles: ["ops"] }, execute: () => 1 }))
  expect(names()).toEqual([...before, "a"].sort())
  system.registry.unregister("a")
  expect(names()).toEqual(before)
})

test("discovery checks the department and the level", async () => {
  const system = await openTestApp({
    org: { roles: [{ name: "dev" }], agents: [{ id: "d", role: "dev", department: "north", level: 1 }] },
  })
  const add = (name: string, permission: object) =>
    system.registry.register(tool({ name, permission, execute: () => 1 }))
  add("north_only", { allowedDepartments: ["north"] })
  add("south_only", { allowedDepartments: ["south"] })
  add("level_one", { minLevel: 1 })
  add("level_two", { minLevel: 2 })
  const names = system.visibleTools("d").map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(["north_only", "level_one"]))
  expect(names).not.toContain("south_only")
  expect(names).not.toContain("level_two")
})

test("built-in, custom and layered tools come from one lookup and take the same steps", async () => {
  const system = await openTestApp({
    org: {
      roles: [{ name: "dev" }],
      agents: [
        { id: "d", role: "dev", department: "north" },
        { id: "e", role: "dev" },
      ],
    },
  })
  for (const layer of ["system", "department:north", "agent:d"] as const) {
    system.registry.register(tool({ name: layer === "agent:d" ? "mine" : "ours", execute: () => layer }), { layer })
  }
  const call = async (agentId: string, name: string) => {
    const { result, code } = await system.call({ agentId, tool: name, input: {} })
    return code ?? result
  }
  expect(await Promise.all([call("d", "ours"), call("e", "ours"), call("d", "mine"), call("e", "mine")])).toEqual([
    "department:north",
    "system",
    "agent:d",
    "unknown_tool",
  ])
  expect(system.registry.require("sleep").type).toBe("builtin")
  expect(system.registry.require("ours").type).toBe("custom")
})

test("permission, execution and audit are one run: refused, asked and limited calls are all written down", async () => {
  const system = await openTestApp({ approvals: { unattended: "reject" } })
  system.registry.register(tool({ permission: { rateLimit: { maxCallsPerMinute: 1 } }, execute: () => 1 }))
  for (const [agentId, name] of [
    ["operator", "probe"],
    ["operator", "probe"],
    ["root", "probe"],
    ["operator", "set_env"],
  ] as const) {
    await system.call({ agentId, tool: name, input: name === "set_env" ? { key: "A", value: "1" } : {} })
  }
  const endings = (await system.audit.list()).map((row) => row.code ?? row.status).sort()
  expect(endings).toEqual(["approval_rejected", "rate_limited", "success", "tool_not_available"])
})

test("the logger hears S3's lines: registered, called, result, error", async () => {
  const lines: string[] = []
  const logger: Logger = {
    info: (message) => lines.push(message),
    warn: (message) => lines.push(message),
    error: (message) => lines.push(message),
    logToolCall: (name, args) => lines.push(`call ${name} ${String(args)}`),
    logToolResult: (name, result) => lines.push(`result ${name} ${String(result)}`),
  }
  const system = await openTestApp({}, { logger })
  system.registry.register(tool({ input: z.object({ token: z.string() }) as never, execute: () => "ok" }))
  system.registry.register(tool({ name: "breaks", execute: () => { throw new Error("no") } })) // prettier-ignore
  await system.call({ agentId: "operator", tool: "probe", input: { token: "hidden" } })
  await system.call({ agentId: "operator", tool: "breaks", input: {} })
  expect(lines).toEqual(
    expect.arrayContaining([
      "Tool registered: probe",
      'call probe {"token":"***"}',
      'result probe "ok"',
      "Tool execution error: breaks",
    ]),
  )
})

test("a call does not block: others go on and events come while it runs, and its history can be read", async () => {
  const system = await openTestApp()
  const gate = deferred()
  const seen: string[] = []
  system.on("TOOL_CALL_REQUESTED", ({ toolName }) => seen.push(toolName))
  system.registry.register(tool({ execute: () => gate.promise }))
  const slow = system.call({ agentId: "operator", tool: "probe", input: {} })
  const quick = await system.call({ agentId: "operator", tool: "current_time", input: {} })
  expect(quick.success).toBe(true)
  expect(seen).toEqual(["probe", "current_time"])
  gate.resolve()
  const { callId } = await slow
  expect((await system.audit.show(callId)).map((entry) => entry.kind)).toEqual(["start", "end"])
})

test("look up, parse, execute, announce, in that order", async () => {
  const system = await openTestApp()
  const order: string[] = []
  const input = z.object({ n: z.number().refine(() => (order.push("parsed"), true)) }) as never
  system.on("TOOL_CALL_COMPLETED", ({ toolName, result }) => order.push(`${toolName} ${String(result)}`))
  system.registry.register(tool({ input, execute: ({ n }: { n: number }) => (order.push("executed"), n) }))
  expect(await system.call({ agentId: "operator", tool: "nothing", input: { n: 1 } })).toMatchObject({
    code: "unknown_tool",
  })
  expect(order).toEqual([])
  await system.call({ agentId: "operator", tool: "probe", input: { n: 1 } })
  expect(order).toEqual(["parsed", "executed", "probe 1"])
})

test("a network tool has sixty seconds where another has thirty", async () => {
  const { timeoutOf } = await import("./call/steps/run.ts")
  const system = await openTestApp()
  const limit = (spec: object) =>
    timeoutOf(
      { request: {} } as never,
      system.registry.register(tool({ execute: () => 1, ...spec }), { replace: true }),
      { settings: { timeoutMs: 30_000 } } as never,
    )
  expect(limit({ effect: "network" })).toBe(60_000)
  expect(limit({ effect: "read" })).toBe(30_000)
  expect(limit({ timeoutMs: 5_000_000 })).toBe(600_000)
  expect(limit({ kind: "composite" })).toBeNull()
})

test("categories are the union of S2's and S4's, and group and type are fields of their own", () => {
  const all = [
    "file",
    "search",
    "execution",
    "communication",
    "data",
    "analysis",
    "utility",
    "system",
    "network",
    "code",
    "mcp",
    "custom",
  ]
  expect(Object.values(ToolCategory).sort()).toEqual(all.sort())
})

test("commands and paths are checked by the call: a tool that looks at nothing itself does not run", async () => {
  let runs = 0
  const workspace = temporaryFolder()
  const system = await openTestApp({ rules: [{ allow: "*", because: "A test." }] }, { workspace })
  const input = z.object({ kind: z.enum(["command", "write", "read"]), what: z.string() })
  type Given = z.infer<typeof input>
  system.registry.register(
    tool({ input: input as never, effect: "execute", touches: (given: Given) => [given], execute: () => ++runs }),
  )
  const call = async (kind: Given["kind"], what: string) =>
    (await system.call({ agentId: "operator", tool: "probe", input: { kind, what } })).code
  expect(await call("command", "rm -rf /")).toBe("command_denied")
  expect(await call("write", "../outside.txt")).toBe("path_outside_workspace")
  expect(await call("read", "/etc/shadow")).toBe("path_outside_workspace")
  expect(runs).toBe(0)
  expect(await call("write", "inside.txt")).toBeUndefined()
  expect(runs).toBe(1)
})

test("dangerous is checked by the call, not by the tool: no tool can forget it", async () => {
  let ran = false
  const system = await openTestApp({ approvals: { unattended: "reject" } })
  system.registry.register(tool({ permission: { dangerous: true }, execute: () => (ran = true) }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
    code: "approval_rejected",
  })
  expect(ran).toBe(false)
})
