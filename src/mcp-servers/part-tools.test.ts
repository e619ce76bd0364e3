import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { openTestApp, until } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const offered = {
  tools: [definition("echo"), definition("resources.read")],
  resources: [{ uri: "note://one", name: "one" }],
  prompts: [{ name: "greet", arguments: [{ name: "who" }] }],
}

test("calls of resources, prompts and completions are governed and recorded like those of tools", async () => {
  const box = toolbox(offered)
  const app = await openTestApp({
    mcpServers: { box: box.command },
    org: { roles: [{ name: "guest", toolGroups: ["system"] }], agents: [{ id: "guest", role: "guest" }] },
    rules: [{ deny: "mcp:box:resources.read", args: { "/uri": "note://secret*" }, because: "Secrets stay." }],
  } as Config)
  await app.mcp.ready()
  const call = (part: string, input: unknown, agentId = "operator") =>
    app.call({ agentId, tool: `mcp:box:${part}`, input })

  expect(app.mcp.resources("box")).toEqual(offered.resources)
  expect(app.mcp.templates("box")).toEqual([{ uriTemplate: "note://{name}", name: "note" }])
  expect(app.mcp.prompts("box")).toEqual(offered.prompts)
  expect(app.mcp.list()).toMatchObject([{ resources: 1, prompts: 1 }])
  expect(await call("resources.read", { uri: "note://one" })).toMatchObject({
    result: { contents: [{ uri: "note://one", text: "what is at note://one" }] },
  })
  expect(await call("resources.read", { uri: "note://secret" })).toMatchObject({ code: "permission_denied" })
  expect(await call("resources.read", { uri: "note://missing" })).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("Resource not found"),
    metadata: { toolCode: "mcp_error" },
  })
  expect(await call("prompts.get", { name: "greet", arguments: { who: "Ann" } })).toMatchObject({
    result: { messages: [{ role: "user", content: { text: 'greet {"who":"Ann"}' } }] },
  })
  const completion = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "b" } }
  expect(await call("completion.complete", completion)).toMatchObject({
    result: { completion: { values: ["ba", "bb"] } },
  })
  expect(await call("resources.read", { uri: "note://one" }, "guest")).toMatchObject({ code: "tool_not_available" })
  expect(app.isVisible("guest", "mcp:box:prompts.get")).toBe(false)
  expect(app.visibleTools("operator").filter(({ exposedAs }) => exposedAs !== undefined)).toEqual([])
  await app.settle()
  expect(await app.audit.list({ tool: "mcp:box:resources.read" })).toHaveLength(4)
})

test("a server without resources and prompts has no such parts, and no tool can take their names", async () => {
  const box = toolbox({ tools: offered.tools })
  const app = await openTestApp({ mcpServers: { box: box.command } })
  await app.mcp.ready()
  const parts = app.registry.list({ group: "box" }).filter((tool) => tool.exposedAs !== undefined)
  expect(parts.map(({ name }) => name)).toEqual(["mcp:box:elicitation.create"])
  expect(app.mcp.pins().find(({ tool }) => tool === "resources.read")).toMatchObject({
    state: "new",
    warnings: [expect.stringContaining("it is left out")],
  })
  await expect(app.mcp.trust("box", "resources.read", "ann")).rejects.toThrow("cannot be trusted")
})

test("only lists that changed are announced", async () => {
  const tools = [definition("announce")]
  const box = toolbox({ ...offered, tools })
  const app = await openTestApp({
    mcpServers: { box: box.command },
    rules: [{ allow: "mcp:*", because: "The test uses it." }],
  })
  const changes: string[] = []
  app.mcp.onChange(({ what }) => what === "state" || changes.push(what))
  await app.mcp.ready()
  expect(changes.sort()).toEqual(["prompts", "resources", "tools"])
  changes.length = 0
  box.offer({ ...offered, tools, prompts: [{ name: "another" }] })
  await app.call({ agentId: "operator", tool: "mcp:box:announce", input: {} })
  await until(() => changes.length > 0, "the change is announced")
  expect(changes).toEqual(["prompts"])
  expect(app.mcp.prompts("box")).toEqual([{ name: "another" }])
})

test("subscribers are notified of changes of a resource", async () => {
  const app = await openTestApp({ mcpServers: { box: toolbox(offered).command } })
  await app.mcp.ready()
  const changes: unknown[] = []
  app.mcp.onChange((change) => changes.push(change))
  const stop = await app.mcp.subscribe("box", "note://one")
  await until(() => changes.length > 0, "the change is announced")
  expect(changes).toEqual([{ server: "box", what: "resource", uri: "note://one" }])
  await stop()
})
