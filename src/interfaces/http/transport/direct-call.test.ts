import { expect, test } from "vitest"
import { tool } from "../../../testing/test-app.ts"
import { headersFor, serveAppForTest, type RawResponse } from "../testing.ts"

const body = (value: unknown) => JSON.stringify(value)

test.each([
  ["a call", { body: body({ input: {} }) }, 200],
  ["a refusal", { body: body({ input: { a: 1 }, agentId: "root" }) }, 403],
  ["a ticket", { tool: "send", body: body({ input: {}, wait: 0 }) }, 202],
  ["no such tool", { tool: "lok", body: body({ input: {} }) }, 200],
  ["no body", { body: "" }, 400],
  ["no JSON", { body: "{" }, 400],
  ["a wrong type", { body: body({ wait: "long" }) }, 400],
  ["a mistyped key", { body: body({ inpt: {} }) }, 400],
  ["another content type", { body: "{}", headers: { "content-type": "text/plain" } }, 415],
  ["a token that is unknown", { body: "{}", headers: { authorization: "Bearer qma_nobody" } }, 401],
  ["another scheme", { body: "{}", headers: { authorization: "Basic YTpi" } }, 401],
  ["too much", { body: body({ input: { text: "x".repeat(2000) } }) }, 413],
])("%s with a token is answered without Hono as with it", async (_what, given: Given, status) => {
  const { app, ask, token } = await serveAppForTest(
    { org: { roles: [{ name: "worker", toolGroups: ["test"] }], agents: [{ id: "ada", role: "worker" }] } },
    { maxBodyBytes: 1000 },
  )
  app.registry.registerMany([
    tool({ name: "look", effect: "read", execute: () => "seen" }),
    tool({ name: "send", effect: "communicate", execute: () => "sent" }),
  ])
  const name = given.tool ?? "look"
  const headers = { ...headersFor(await token("ada")), ...given.headers }
  const direct = await ask({ path: `/v1/tools/${name}/call`, headers, body: given.body })
  // A name with an escape is left to Hono.
  const escaped = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
  const byHono = await ask({ path: `/v1/tools/${escaped}/call`, headers, body: given.body })
  expect(direct.status).toBe(status)
  expect(comparable(direct)).toEqual(comparable(byHono))
})

interface Given {
  tool?: string
  body: string
  headers?: Record<string, string>
}

/** Without what differs between any two calls. */
function comparable({ status, headers, text }: RawResponse) {
  const {
    date: _date,
    "content-length": _length,
    "transfer-encoding": _encoding,
    connection: _connection,
    ...rest
  } = headers
  const hidden = (all: string) =>
    all
      .replaceAll(/"(startedAt|completedAt|until|durationMs|executionTime)":\d+/g, '"$1":0')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id")
  return { status, headers: JSON.parse(hidden(JSON.stringify(rest))) as unknown, text: hidden(text) }
}
