import { expect, test } from "vitest"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { openWithDialects } from "../testing/dialect.ts"

test("the called name decides the shape; a name in two dialects follows the role", async () => {
  const system = await openWithDialects()
  const results = await Promise.all([
    system.call({ agentId: "native", tool: "greet", input: { name: "Ada" } }),
    system.call({ agentId: "native", tool: "Greet", input: { who: "Ada" } }),
    system.call({ agentId: "claude", tool: "greet", input: { name: "Ada" } }),
    system.call({ agentId: "classic", tool: "greet", input: { person: "Ada" } }),
  ])
  expect(results.map(({ result }) => result)).toEqual([
    { text: "Hello Ada", count: 1 },
    { greeting: "Hello Ada" },
    { text: "Hello Ada", count: 1 },
    ["Hello Ada"],
  ])
  expect(new Set(results.map(({ toolName }) => toolName))).toEqual(new Set(["greet"]))
})

test("an agent is shown one name for a tool, with that name's parameters and results", async () => {
  const system = await openWithDialects()
  const shown = (agentId: string) =>
    system.toolsFor(agentId, { format: "mcp" }).filter(({ name }) => /greet/i.test(name))
  expect(shown("native").map(({ name }) => name)).toEqual(["greet"])
  expect(shown("claude")).toMatchObject([
    { name: "Greet", inputSchema: { properties: { who: {} } }, outputSchema: { properties: { greeting: {} } } },
  ])
  expect(shown("classic")).toMatchObject([{ name: "greet", inputSchema: { properties: { person: {} } } }])
})

test("problems and failures use the words of the alias that was called", async () => {
  const system = await openWithDialects()
  const call = (input: unknown) => system.call({ agentId: "native", tool: "Greet", input })
  expect(await call({ name: "Ada" })).toMatchObject({
    code: "invalid_arguments",
    error: expect.stringContaining("Greet"),
  })
  expect(await call({ who: "nobody" })).toMatchObject({
    code: "tool_failed",
    error: "Failed to greet: There is nobody to greet.",
    metadata: { toolCode: "nobody" },
  })
})

test("a hidden tool is hidden by all its names", async () => {
  const system = await openWithDialects({ rules: [{ deny: "greet", because: "Nobody greets." }] })
  for (const [agentId, called] of [
    ["native", "greet"],
    ["native", "Greet"],
    ["claude", "Greet"],
    ["classic", "greet"],
  ] as const) {
    expect(await system.call({ agentId, tool: called, input: {} })).toMatchObject({ code: "tool_not_available" })
    expect(system.toolsInDialect(agentId).map(({ name }) => name)).not.toContain(called)
  }
})

test("no other tool may take an alias, so that rules about it keep their meaning", async () => {
  const system = await openWithDialects()
  for (const layer of ["system", "agent:claude", "department:x"] as const) {
    expect(() => system.registry.register(tool({ name: "Greet", execute: () => "mine" }), { layer })).toThrow(
      "'Greet' is another name of the tool greet",
    )
  }
  expect(await system.call({ agentId: "claude", tool: "Greet", input: { who: "Ada" } })).toMatchObject({
    success: true,
  })
})

test("a waiting call by an alias shows the tool's own input, and its caller gets the alias's words", async () => {
  const system = await openWithDialects({ rules: [{ ask: "greet", because: "Every greeting is seen." }] })
  const ticket = await system.call({ agentId: "claude", tool: "Greet", input: { who: "Ada" } }, { waitMs: 0 })
  const [item] = await system.approvals.list()
  expect(item).toMatchObject({ tool: "greet", input: { name: "Ada" } })
  await system.approvals.answer(ticket.callId, { kind: "approve" }, "ann")
  expect(await system.resume(ticket.callId)).toMatchObject({ result: { greeting: "Hello Ada" } })
  expect(await system.resume(ticket.callId)).toMatchObject({ result: { greeting: "Hello Ada" } })
})

test("one key means one call, by whatever name", async () => {
  const system = await openWithDialects()
  const first = await system.call({ agentId: "native", tool: "Greet", input: { who: "Ada" }, key: "k" })
  const second = await system.call({ agentId: "native", tool: "greet", input: { name: "Ada" }, key: "k" })
  expect(first).toMatchObject({ result: { greeting: "Hello Ada" } })
  expect(second).toMatchObject({ callId: first.callId, result: { text: "Hello Ada", count: 1 } })
})

test("what the configuration says of a tool by another name, it says of the tool", async () => {
  const system = await openTestApp({
    org: {
      roles: [{ name: "dev" }, { name: "held", pins: { Read: "9.9.9" } }],
      agents: [
        { id: "dev", role: "dev" },
        { id: "held", role: "held" },
      ],
    },
    tools: { permissions: { Read: { rateLimit: { maxCallsPerMinute: 1 } }, Glob: { allowedRoles: ["nobody"] } } },
  })
  const call = (agentId: string, name: string, input: unknown) => system.call({ agentId, tool: name, input })
  expect(await call("dev", "Read", { file_path: "package.json" })).toMatchObject({ success: true })
  expect(await call("dev", "read_file", { path: "package.json" })).toMatchObject({ code: "rate_limited" })
  expect(await call("dev", "find_files", { pattern: "*" })).toMatchObject({ code: "tool_not_available" })
  expect(await call("held", "read_file", { path: "package.json" })).toMatchObject({ code: "unknown_tool" })
})

test("a version does not change the shape", async () => {
  const system = await openWithDialects()
  const versioned = await system.call({ agentId: "claude", tool: "Greet@1.0.0", input: { who: "Ada" } })
  expect(versioned).toMatchObject({ result: { greeting: "Hello Ada" } })
})

test("versions of one name in two groups are each for who has the group", async () => {
  const roles = ["old", "new"].map((name) => ({ name, toolGroups: [name] }))
  const system = await openTestApp({ org: { roles, agents: roles.map(({ name }) => ({ id: name, role: name })) } })
  system.registry.register(tool({ name: "made", group: "old", version: "1.0.0", execute: () => "old" }))
  system.registry.register(tool({ name: "made", group: "new", version: "2.0.0", execute: () => "new" }))
  const call = (agentId: string, name = "made") => system.call({ agentId, tool: name, input: {} })
  expect((await call("old")).result).toBe("old")
  expect((await call("new")).result).toBe("new")
  expect(await call("old", "made@2.0.0")).toMatchObject({ code: "unknown_tool" })
  expect(await call("new", "made@1.0.0")).toMatchObject({ code: "unknown_tool" })
})
