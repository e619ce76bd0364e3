import { expect, test } from "vitest"
import { modernRequest, serveAppForTest } from "../http/testing.ts"
import { tool } from "../../testing/test-app.ts"

const schema = {
  type: "object",
  properties: {
    city: { type: "string", "x-mcp-header": "City" },
    days: { type: "integer", "x-mcp-header": "Days" },
    free: { type: "string" },
  },
}
const input = { city: "Ulm", days: 2, free: "x" }
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`

test.each([
  ["with equal headers", input, { "mcp-param-city": "Ulm", "mcp-param-days": "2" }, 200],
  ["with an encoded header", { city: "Köln" }, { "mcp-param-city": base64("Köln") }, 200],
  ["without the argument", {}, {}, 200],
  ["without the header", { city: "Ulm" }, {}, 400],
  ["with another value", { city: "Ulm" }, { "mcp-param-city": "Bonn" }, 400],
  ["with another number", { days: 2 }, { "mcp-param-days": "3" }, 400],
  ["with broken Base64", { city: "Ulm" }, { "mcp-param-city": "=?base64?!?=" }, 400],
])("a call of a tool that wants headers, %s, is answered with its status", async (_, given, headers, status) => {
  const { app, token, ask } = await serveAppForTest()
  let runs = 0
  app.registry.register(tool({ input: schema as never, execute: () => ++runs }))
  const request = modernRequest(await token("operator"), "tools/call", { name: "probe", arguments: given })
  const answer = await ask({ ...request, headers: { ...request.headers, ...headers } })
  expect(answer.status).toBe(status)
  expect(runs).toBe(status === 200 ? 1 : 0)
  if (status === 400) expect(answer.message).toMatchObject({ id: 1, error: { code: -32_020 } })
})
