import { expect, test } from "vitest"
import { requestContext, openConnection, textOf } from "../testing/mcp/connections.ts"
import { httpSpec, customServer } from "./testing/http-transport.ts"

const big = (id: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "x".repeat(20 * 1024 * 1024) }] } })

test.each([
  ["by JSON", (id: unknown) => [big(id), "application/json"] as const],
  ["as an event", (id: unknown) => [`data: ${big(id)}\n\n`, "text/event-stream"] as const],
])("an answer that is too large %s ends its call only", async (_, answer) => {
  const server = await customServer(({ id, params }, respond) => {
    if (params?.arguments?.["text"] !== "big") return false
    const [body, type] = answer(id)
    respond(body, type)
    return true
  })
  const { connection } = openConnection(httpSpec(server.url))
  await connection.ensureConnected()
  await expect(connection.callTool("echo", { text: "big" }, requestContext())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(/^The MCP server far sent more than 10 MB in one message.* may have run/) as string,
  })
  expect(textOf(await connection.callTool("echo", { text: "small" }, requestContext()))).toBe("small")
  expect(connection.state).toMatchObject({ state: "connected", restarts: 0 })
})
