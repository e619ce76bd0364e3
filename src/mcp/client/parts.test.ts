import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import { open, until } from "../../testing/open.ts"
import { definition, toolbox } from "../testing/toolbox.ts"

const offered = {
  tools: [definition("echo"), definition("resources.read")],
  resources: [{ uri: "note://one", name: "one" }],
  prompts: [{ name: "greet", arguments: [{ name: "who" }] }],
}

test("resources, prompts and completions are called under the same rules and leave the same record", async () => {
  const box = toolbox(offered)
  const house = await open({
    mcpServers: { box: box.command },
    org: { roles: [{ name: "guest", toolGroups: ["system"] }], agents: [{ id: "guest", role: "guest" }] },
    rules: [{ deny: "mcp:box:resources.read", args: { "/uri": "note://secret*" }, because: "Secrets stay." }],
  } as Config)
  await house.mcp.ready()
  const call = (part: string, input: unknown, agentId = "operator") =>
    house.call({ agentId, tool: `mcp:box:${part}`, input })

  expect(house.mcp.resources("box")).toEqual(offered.resources)
  expect(house.mcp.templates("box")).toEqual([{ uriTemplate: "note://{name}", name: "note" }])
  expect(house.mcp.prompts("box")).toEqual(offered.prompts)
  expect(house.mcp.list()).toMatchObject([{ resources: 1, prompts: 1 }])
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
  expect(house.mayKnow("guest", "mcp:box:prompts.get")).toBe(false)
  expect(house.visibleTools("operator").filter(({ offered }) => offered !== undefined)).toEqual([])
  await house.settle()
  expect(await house.audit.list({ tool: "mcp:box:resources.read" })).toHaveLength(4)
})

test("a server without resources and prompts has none of those parts, and no tool can take their names", async () => {
  const box = toolbox({ tools: offered.tools })
  const house = await open({ mcpServers: { box: box.command } })
  await house.mcp.ready()
  const parts = house.registry.list({ group: "box" }).filter((tool) => tool.offered !== undefined)
  expect(parts.map(({ name }) => name)).toEqual(["mcp:box:elicitation.create"])
  expect(house.mcp.pins().find(({ tool }) => tool === "resources.read")).toMatchObject({
    state: "new",
    warnings: [expect.stringContaining("it is left out")],
  })
  await expect(house.mcp.trust("box", "resources.read", "ann")).rejects.toThrow("cannot be agreed to")
})

test("lists that change are told, and only those", async () => {
  const tools = [definition("announce")]
  const box = toolbox({ ...offered, tools })
  const house = await open({
    mcpServers: { box: box.command },
    rules: [{ allow: "mcp:*", because: "The test uses it." }],
  })
  const told: string[] = []
  house.mcp.onChange(({ what }) => what === "state" || told.push(what))
  await house.mcp.ready()
  expect(told.sort()).toEqual(["prompts", "resources", "tools"])
  told.length = 0
  box.offer({ ...offered, tools, prompts: [{ name: "another" }] })
  await house.call({ agentId: "operator", tool: "mcp:box:announce", input: {} })
  await until(() => told.length > 0, "the change is told")
  expect(told).toEqual(["prompts"])
  expect(house.mcp.prompts("box")).toEqual([{ name: "another" }])
})

test("changes of a resource are told to who subscribed", async () => {
  const house = await open({ mcpServers: { box: toolbox(offered).command } })
  await house.mcp.ready()
  const changes: unknown[] = []
  house.mcp.onChange((change) => changes.push(change))
  const stop = await house.mcp.subscribe("box", "note://one")
  await until(() => changes.length > 0, "the change is told")
  expect(changes).toEqual([{ server: "box", what: "resource", uri: "note://one" }])
  await stop()
})
