import { expect, onTestFinished, test } from "vitest"
import { openTestApp } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"
import { MCPClient } from "./client.ts"
import { wrapMCPTool } from "./wrap-tool.ts"

test("a tool of a client's server is wrapped into one of ours", async () => {
  const box = toolbox({ tools: [definition("steps"), definition("echo", { title: "Echo" })] })
  const client = new MCPClient()
  onTestFinished(() => client.disconnect())
  await client.connect({ name: "box", ...box.command })
  const app = await openTestApp({ rules: [{ allow: "group:box", because: "The test uses it." }] })
  app.registry.registerMany((await client.listTools()).map((offered) => wrapMCPTool(offered, client)))

  expect(app.registry.require("mcp:box:echo")).toMatchObject({ category: "mcp", group: "box", title: "Echo" })
  const call = (tool: string, input: unknown) => app.call({ agentId: "operator", tool, input })
  expect(await call("mcp:box:echo", { text: "hi" })).toMatchObject({
    success: true,
    result: { content: [{ type: "text", text: '{"text":"hi"}' }] },
  })
  expect(await call("mcp:box:echo", { text: 1 })).toMatchObject({ code: "invalid_arguments" })
  // The schema does not say that it takes nothing else.
  expect(await call("mcp:box:echo", { text: "hi", more: 1 })).toMatchObject({
    result: { content: [{ type: "text", text: '{"text":"hi","more":1}' }] },
  })
  const chunks: unknown[] = []
  app.on("TOOL_CALL_OUTPUT", ({ chunk }) => chunks.push(chunk))
  expect(await call("mcp:box:steps", {})).toMatchObject({ success: true })
  expect(chunks).toContainEqual({ progress: 1, total: 2, message: "step 1" })
  await client.disconnect()
  expect(await call("mcp:box:echo", {})).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("connect"),
  })
})

test("any client can be used, and a schema that does not compile refuses every input", async () => {
  const calls: unknown[] = []
  const client = { callTool: async (name: string, args: unknown) => (calls.push([name, args]), { content: [] }) }
  const app = await openTestApp({ rules: [{ allow: "group:mcp", because: "The test uses it." }] })
  const broken = definition("broken", { inputSchema: { type: "object", properties: { a: { type: "wrong" } } } })
  app.registry.registerMany(
    [definition("echo", { description: "" }), broken].map((offered) => wrapMCPTool(offered, client)),
  )
  expect(app.registry.require("mcp:mcp:echo").description).toBe("The tool echo of the MCP server mcp.")
  const call = (name: string) => app.call({ agentId: "operator", tool: `mcp:mcp:${name}`, input: {} })
  expect(await call("echo")).toMatchObject({ success: true, result: { content: [] } })
  expect(await call("broken")).toMatchObject({ code: "invalid_arguments", error: expect.stringContaining("schema") })
  expect(calls).toEqual([["echo", {}]])
})
