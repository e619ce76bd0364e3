import { expect, test } from "vitest"
import { definition, toolbox } from "../../../testing/mcp/toolbox.ts"
import { until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

test("a tool of an MCP server that changed is shown with both definitions, and trusted only as the person saw it", async () => {
  const box = toolbox({ tools: [definition("announce"), definition("echo")] })
  const { app, served } = await serveAppForTest({
    mcpServers: { box: box.command },
    rules: [{ allow: "mcp:*", because: "The test uses them." }],
  })
  await app.mcp.ready()
  const headers = { "content-type": "application/json", ...(await sessionHeaders(app, "someone", true)) }
  const ask = async (method: string, path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${served.url}${path}`, { method, headers, ...sent })
    return { status: response.status, body: (await response.json()) as { items: Pin[]; code?: string } }
  }
  expect((await ask("GET", "/v1/servers")).body.items).toMatchObject([{ name: "box", state: "connected", tools: 2 }])
  expect((await ask("GET", "/v1/servers/other/pins")).status).toBe(404)

  box.offer({ tools: [definition("announce"), definition("echo", { description: "Another one." })] })
  await app.call({ agentId: "operator", tool: "mcp:box:announce", input: {} })
  const pins = async () => (await ask("GET", "/v1/servers/box/pins")).body.items
  await until(async () => (await pins()).some(({ state }) => state === "changed"), "the change is seen")
  const changed = (await pins()).find(({ tool }) => tool === "echo")!
  expect(changed).toMatchObject({ definition: { description: "Does echo." }, seen: { description: "Another one." } })
  const trust = (shown: string[]) => ask("POST", "/v1/servers/box/trust", { tool: "echo", shown })
  expect(await trust([])).toMatchObject({ status: 422, body: { code: "not_trusted" } })
  expect((await trust([changed.seenHash ?? ""])).status).toBe(200)
  expect((await pins()).map(({ tool, state }) => `${tool} ${state}`)).toEqual(["announce pinned", "echo pinned"])
})

interface Pin {
  tool: string
  state: string
  seenHash?: string
}
