import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { openTestApp } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const rules = [{ allow: "mcp:*", because: "The tests use them." }]
const roles = [
  { name: "near", toolGroups: ["one"] },
  { name: "far", toolGroups: ["two"] },
]
const agents = [
  { id: "near", role: "near" },
  { id: "far", role: "far" },
]

async function twoServers(more: Config["rules"] = []) {
  const one = toolbox({ tools: [definition("echo"), definition("only_here")] })
  const two = toolbox({ tools: [definition("echo"), definition("current_time")] })
  const mcpServers = { one: one.command, two: two.command }
  const app = await openTestApp({ mcpServers, rules: [...rules, ...more], org: { roles, agents } })
  await app.mcp.ready()
  const call = (agentId: string, tool: string) => app.call({ agentId, tool, input: { text: "x" } })
  return { app, one, two, call }
}

test("a tool of an MCP server answers to its bare name where the agent sees one such tool", async () => {
  const { app, one, two, call } = await twoServers()
  expect(await call("operator", "only_here")).toMatchObject({ success: true, toolName: "mcp:one:only_here" })
  expect(await call("near", "echo")).toMatchObject({ success: true, toolName: "mcp:one:echo" })
  expect(await call("far", "echo@1.0.0")).toMatchObject({ success: true, toolName: "mcp:two:echo" })
  expect([one.calls(), two.calls()]).toEqual([["only_here", "echo"], ["echo"]])
  expect(app.inputSchemaOf("near", "echo")).toEqual(app.inputSchemaOf("near", "mcp:one:echo"))
  expect(await app.why({ agentId: "near", tool: "echo", input: { text: "x" } })).toMatchObject({ verdict: "allow" })
  expect(app.registry.get("only_here")?.name).toBe("mcp:one:only_here")
  expect(app.registry.get("echo")).toBeUndefined()
})

test("an ambiguous or hidden bare name is an unknown tool, in the same words as a name that nothing has", async () => {
  const { one, two, call } = await twoServers()
  const words = async (agentId: string, tool: string) => {
    const { code, error } = await call(agentId, tool)
    return [code, error?.replaceAll(tool, "x")]
  }
  expect(await words("far", "only_here")).toEqual(await words("far", "qqqqqqqqq"))
  expect((await call("operator", "echo")).code).toBe("unknown_tool")
  expect((await call("nobody", "only_here")).code).toBe("unknown_tool")
  expect([one.calls(), two.calls()]).toEqual([[], []])
})

test("a built-in tool keeps its name, also for an agent that may not use it", async () => {
  const { two, call } = await twoServers()
  expect(await call("operator", "current_time")).toMatchObject({ toolName: "current_time" })
  expect((await call("far", "current_time")).code).toBe("tool_not_available")
  expect(two.calls()).toEqual([])
})

test("a tool that a rule hides counts neither as the one that is meant nor as a second one", async () => {
  const { one, two, call } = await twoServers([
    { deny: "mcp:two:echo", because: "Not this one." },
    { deny: "mcp:one:only_here", because: "Nor this one." },
  ])
  expect(await call("operator", "echo")).toMatchObject({ success: true, toolName: "mcp:one:echo" })
  expect((await call("operator", "only_here")).code).toBe("unknown_tool")
  expect((await call("far", "echo")).code).toBe("unknown_tool")
  expect([one.calls(), two.calls()]).toEqual([["echo"], []])
})

test("a mistyped tool of a server is answered with the nearest one, as models write it", async () => {
  const { call } = await twoServers()
  expect((await call("operator", "one__only_her")).error).toContain('Did you mean "one__only_here"?')
  expect((await call("operator", "mcp:one:only_her")).error).toContain('Did you mean "mcp:one:only_here"?')
  expect((await call("far", "one__only_her")).error).not.toContain("one__only_here")
})
