import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "./approval/callback.ts"
import type { Logger } from "./model/logger.ts"
import { ToolCategory } from "./model/tool.ts"
import { fromModule } from "./registry/adapters.ts"
import { deferred, open, openMany, tool } from "./testing/open.ts"

// Lines of the source designs that only the whole house can prove.

test("the house has the built-in groups before any tool is called, with their tools in them [S0-02] [S0-29] [S0-30]", async () => {
  const system = await open()
  expect(system.groups.getAllGroupIds()).toEqual(
    expect.arrayContaining(["org_management", "artifact", "workspace", "command", "network", "context", "console"]),
  )
  expect(system.groups.isReservedGroup("artifact")).toBe(true)
  expect(
    system.groups
      .getToolDefinitions(["artifact"])
      .map((definition) => definition.function.name)
      .sort(),
  ).toEqual(["get_artifact", "put_artifact"])
})

test("a module's tools become a group, are seen and called only by roles that have it [S0-01] [S0-84] [S0R-1.1]", async () => {
  const system = await open({
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

test("a refusal is returned, not thrown: code, tool name and S0's sentence, and the tool has not run [S0-36] [S0-39] [S0-40]", async () => {
  const system = await open({
    org: { roles: [{ name: "dev", toolGroups: ["data"] }], agents: [{ id: "d", role: "dev" }] },
  })
  let ran = false
  system.registry.register(tool({ group: "secret", execute: () => (ran = true) }))
  expect(await system.call({ agentId: "d", tool: "probe", input: {} })).toMatchObject({
    code: "tool_not_available",
    toolName: "probe",
    error: expect.stringContaining("工具 probe 对此岗位不可用"),
  })
  expect(ran).toBe(false)
})

test("law: for any role and any tool, the call is refused exactly when the tool is in none of its groups [S0-38] [S0-81] [S0-88]", async () => {
  const { house } = await openMany()
  const ids = ["alpha", "beta", "gamma"]
  await fc.assert(
    fc.asyncProperty(fc.subarray(ids, { minLength: 1 }), fc.constantFrom(...ids), async (toolGroups, group) => {
      const system = house({ org: { roles: [{ name: "dev", toolGroups }], agents: [{ id: "d", role: "dev" }] } })
      system.registry.register(tool({ group, execute: () => 1 }))
      const result = await system.call({ agentId: "d", tool: "probe", input: {} })
      expect(result.code).toBe(toolGroups.includes(group) ? undefined : "tool_not_available")
      if (!result.success) expect(result.error).toContain("probe")
    }),
    { numRuns: 100 },
  )
})

test("what a model is sent are its role's tools and no others; without groups all of them [S0R-4.1] [S0R-4.3] [S0R-3.3]", async () => {
  const system = await open({
    org: {
      roles: [{ name: "dev", toolGroups: ["data"] }, { name: "free" }],
      agents: [
        { id: "d", role: "dev" },
        { id: "f", role: "free" },
      ],
    },
    tools: { permissions: { run_command: { allowedRoles: [] } } },
  })
  const sent = (agent: string) => system.toolsFor(agent, { format: "anthropic" }).map(({ name }) => name)
  expect(sent("d")).toEqual(["base64_decode", "base64_encode", "json_parse", "json_stringify"])
  expect(sent("f")).toEqual(sent("operator"))
  expect(await system.call({ agentId: "d", tool: "sleep", input: { duration: 0 } })).toMatchObject({
    code: "tool_not_available",
  })
})

test("the refusal names the tool and says that it is not available to this role [S0R-4.4]", async () => {
  const system = await open()
  const { error } = await system.call({ agentId: "root", tool: "sleep", input: {} })
  expect(error).toMatch(/sleep.*is not available to this role/)
})

test("the level decides who is asked, before and after, and a new adapter is all it takes [S1-06] [S1-07] [S1-61]", async () => {
  const story: string[] = []
  const adapter = callbackAdapter({
    onExecution: ({ tool: name }) => (story.push(`may ${name} run`), true),
    onResult: ({ tool: name }) => (story.push(`may ${name} be seen`), true),
  })
  const system = await open({}, { approvals: adapter })
  system.registry.register(
    tool({
      permission: { level: "sensitive", requireResultApproval: "always" },
      execute: () => (story.push("runs"), 1),
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ success: true })
  expect(story).toEqual(["may probe run", "runs", "may probe be seen"])
})

test("an executor registers tools and runs them for its agent; a yes leads to the run [S1-05] [S1-11] [S1-19]", async () => {
  const system = await open({}, { approvals: callbackAdapter({ onExecution: () => true }) })
  const executor = system.executor("operator")
  executor.register(tool({ permission: { level: "sensitive" }, execute: (_input, { agent }) => agent.id }))
  expect(await executor.execute("probe", {})).toMatchObject({ result: "operator" })
})

test("every built-in tool has a level that fits what it does, and describes itself and each parameter [S1-62] [S1-63] [S1-66]", async () => {
  const system = await open()
  for (const { name, group, effect, permission, description, input } of system.registry.list()) {
    expect(description.length, name).toBeGreaterThan(10)
    for (const [parameter, schema] of Object.entries((input.json["properties"] as object) ?? {})) {
      expect((schema as { description?: string }).description, `${name} ${parameter}`).toBeTruthy()
    }
    // Whoever is not root asks before it looks at or changes the organisation.
    const usual = effect === "none" || effect === "read" ? "public" : permission.level
    expect(permission.level, name).toBe(group === "org_management" ? "moderate" : usual)
    expect(effect, name).toBeDefined()
  }
  expect(system.registry.require("set_env").permission.level).toBe("moderate")
})

test("a tool that does not say what it does is sensitive [S1-67] [C-49]", async () => {
  const system = await open()
  system.registry.register(tool({ name: "silent", effect: undefined as never, execute: () => 1 }))
  system.registry.register(tool({ name: "runs", effect: "execute", execute: () => 1 }))
  for (const name of ["silent", "runs"]) expect(system.registry.require(name).permission.level).toBe("sensitive")
})

test("discovery lists what role, department and level allow, and follows every change by itself [S2-67] [S2-68] [S2-101]", async () => {
  const system = await open({
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

test("discovery checks the department and the level [S2-69] [S2-70]", async () => {
  const system = await open({
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

test("built-in, custom and layered tools come from one lookup and walk one way [S2-01] [S2-96] [S2-99]", async () => {
  const system = await open({
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

test("permission, execution and audit are one run: refused, asked and limited calls are all written down [S2-05] [S2-100] [S3-05]", async () => {
  const system = await open({ approvals: { unattended: "reject" } })
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

test("the logger hears S3's lines: registered, called, result, error [S3-72] [S3-76] [S1-72]", async () => {
  const lines: string[] = []
  const logger: Logger = {
    info: (message) => lines.push(message),
    warn: (message) => lines.push(message),
    error: (message) => lines.push(message),
    logToolCall: (name, args) => lines.push(`call ${name} ${String(args)}`),
    logToolResult: (name, result) => lines.push(`result ${name} ${String(result)}`),
  }
  const system = await open({}, { logger })
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

test("a call does not block: others go on and events come while it runs, and its history can be read [S4-04] [S4-05] [S4-46]", async () => {
  const system = await open()
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

test("look up, parse, execute, announce, in that order [S4-44] [S4-45] [S4-48]", async () => {
  const system = await open()
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

test("a network tool has sixty seconds where another has thirty [S4-57]", async () => {
  const { timeoutOf } = await import("./call/run.ts")
  const system = await open()
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

test("categories are the union of S2's and S4's, and group and type are fields of their own [C-24]", () => {
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

test("dangerous is a gate in the walk, not in the tool: no tool can forget it [D-20] [S3-04]", async () => {
  let ran = false
  const system = await open({ approvals: { unattended: "reject" } })
  system.registry.register(tool({ permission: { dangerous: true }, execute: () => (ran = true) }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
    code: "approval_rejected",
  })
  expect(ran).toBe(false)
})
