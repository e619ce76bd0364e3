import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { AliasSpec } from "../model/dialect.ts"
import { failure } from "../model/ending.ts"
import { open, tool } from "../testing/open.ts"

const greet = () =>
  tool({
    name: "greet",
    input: z.object({ name: z.string(), times: z.number().default(1) }) as never,
    output: z.object({ text: z.string(), count: z.number() }) as never,
    execute({ name, times }: { name: string; times: number }) {
      if (name === "nobody") throw failure("There is nobody to greet.", { toolCode: "nobody" })
      return { text: `Hello ${name}`.repeat(times), count: times }
    },
  })

const aliases: AliasSpec[] = [
  {
    name: "Greet",
    dialect: "claude",
    tool: "greet",
    description: "Greets.",
    input: z.object({ who: z.string() }) as never,
    output: z.object({ greeting: z.string() }),
    toInput: ({ who }: { who: string }) => ({ name: who }),
    toResult: (result: unknown) => ({ greeting: (result as { text: string }).text }),
    toError: (sentence: string) => `Failed to greet: ${sentence}`,
  } as unknown as AliasSpec,
  {
    name: "greet",
    dialect: "classic",
    tool: "greet",
    description: "Greets.",
    input: z.object({ person: z.string() }) as never,
    toInput: ({ person }: { person: string }) => ({ name: person }),
    toResult: (result: unknown) => [(result as { text: string }).text],
  } as unknown as AliasSpec,
]

async function house(config: Parameters<typeof open>[0] = {}) {
  const roles = ["native", "claude", "classic"].map((dialect) => ({ name: dialect, dialect: dialect as "native" }))
  const agents = roles.map(({ name }) => ({ id: name, role: name }))
  const system = await open({ ...config, org: { roles, agents } })
  system.registry.register(greet())
  system.registry.registerAliases(aliases)
  return system
}

test("the called name decides the shape; a name in two dialects follows the role", async () => {
  const system = await house()
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
  const system = await house()
  const shown = (agentId: string) =>
    system.toolsFor(agentId, { format: "mcp" }).filter(({ name }) => /greet/i.test(name))
  expect(shown("native").map(({ name }) => name)).toEqual(["greet"])
  expect(shown("claude")).toMatchObject([
    { name: "Greet", inputSchema: { properties: { who: {} } }, outputSchema: { properties: { greeting: {} } } },
  ])
  expect(shown("classic")).toMatchObject([{ name: "greet", inputSchema: { properties: { person: {} } } }])
})

test("problems and failures are told in the words of the name that was called", async () => {
  const system = await house()
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

test("an alias is decided, limited and recorded as its tool", async () => {
  const system = await house({
    rules: [
      { deny: "Greet", args: { "/name": "eve" }, because: "Eve is not greeted." },
      { ask: "greet", args: { "/name": "root" }, because: "Root is greeted with care." },
    ],
    approvals: { unattended: "reject" },
    tools: { permissions: { greet: { rateLimit: { maxCallsPerMinute: 1000 } } } },
  })
  const names = fc.constantFrom("eve", "root", "ada", "bob")
  const calls = fc.constantFrom(
    { agentId: "native", tool: "greet", key: "name" },
    { agentId: "native", tool: "Greet", key: "who" },
    { agentId: "classic", tool: "greet", key: "person" },
    { agentId: "claude", tool: "Greet", key: "who" },
  )
  await fc.assert(
    fc.asyncProperty(names, calls, async (name, { agentId, tool: called, key }) => {
      const result = await system.call({ agentId, tool: called, input: { [key]: name } })
      const wanted = ({ eve: "permission_denied", root: "approval_rejected" } as Record<string, string>)[name]
      expect(result.code).toBe(wanted)
      const why = await system.why({ agentId, tool: called, input: { [key]: name } })
      expect([why.tool, why.verdict]).toEqual(["greet", name === "eve" ? "deny" : name === "root" ? "ask" : "allow"])
      await system.settle()
      const [last] = (await system.audit.show(result.callId)).slice(-1)
      expect(last).toMatchObject({ tool: "greet" })
      const first = (await system.audit.show(result.callId)).find(
        (entry) => "input" in entry && entry.input !== undefined,
      )
      expect(JSON.parse((first as { input: string }).input)).toMatchObject({ name })
    }),
    { numRuns: 100 },
  )
})

test("a hidden tool is hidden by all its names", async () => {
  const system = await house({ rules: [{ deny: "greet", because: "Nobody greets." }] })
  for (const [agentId, called] of [
    ["native", "greet"],
    ["native", "Greet"],
    ["claude", "Greet"],
    ["classic", "greet"],
  ] as const) {
    expect(await system.call({ agentId, tool: called, input: {} })).toMatchObject({ code: "tool_not_available" })
    expect(system.shownTools(agentId).map(({ name }) => name)).not.toContain(called)
  }
})

test("nobody else may have another name of a tool, so that rules about it go on meaning the tool", async () => {
  const system = await house()
  for (const layer of ["system", "agent:claude", "department:x"] as const) {
    expect(() => system.registry.register(tool({ name: "Greet", execute: () => "mine" }), { layer })).toThrow(
      "'Greet' is another name of the tool greet",
    )
  }
  expect(await system.call({ agentId: "claude", tool: "Greet", input: { who: "Ada" } })).toMatchObject({
    success: true,
  })
})

test("a waiting call by another name shows the tool's own input, and whoever goes on hears its own words", async () => {
  const system = await house({ rules: [{ ask: "greet", because: "Every greeting is seen." }] })
  const ticket = await system.submit({ agentId: "claude", tool: "Greet", input: { who: "Ada" } }, { waitMs: 0 })
  const [item] = await system.desk.list()
  expect(item).toMatchObject({ tool: "greet", input: { name: "Ada" } })
  await system.desk.say(ticket.callId, { say: "approve" }, "ann")
  expect(await system.resume(ticket.callId)).toMatchObject({ result: { greeting: "Hello Ada" } })
  expect(await system.resume(ticket.callId)).toMatchObject({ result: { greeting: "Hello Ada" } })
})

test("one key means one call, by whatever name", async () => {
  const system = await house()
  const first = await system.call({ agentId: "native", tool: "Greet", input: { who: "Ada" }, key: "k" })
  const second = await system.call({ agentId: "native", tool: "greet", input: { name: "Ada" }, key: "k" })
  expect(first).toMatchObject({ result: { greeting: "Hello Ada" } })
  expect(second).toMatchObject({ callId: first.callId, result: { text: "Hello Ada", count: 1 } })
})

test("what the configuration says of a tool by another name, it says of the tool", async () => {
  const system = await open({
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
  const system = await house()
  const versioned = await system.call({ agentId: "claude", tool: "Greet@1.0.0", input: { who: "Ada" } })
  expect(versioned).toMatchObject({ result: { greeting: "Hello Ada" } })
})

test("versions of one name in two groups are each for who has the group", async () => {
  const roles = ["old", "new"].map((name) => ({ name, toolGroups: [name] }))
  const system = await open({ org: { roles, agents: roles.map(({ name }) => ({ id: name, role: name })) } })
  system.registry.register(tool({ name: "made", group: "old", version: "1.0.0", execute: () => "old" }))
  system.registry.register(tool({ name: "made", group: "new", version: "2.0.0", execute: () => "new" }))
  const call = (agentId: string, name = "made") => system.call({ agentId, tool: name, input: {} })
  expect((await call("old")).result).toBe("old")
  expect((await call("new")).result).toBe("new")
  expect(await call("old", "made@2.0.0")).toMatchObject({ code: "unknown_tool" })
  expect(await call("new", "made@1.0.0")).toMatchObject({ code: "unknown_tool" })
})
