import { expect, test } from "vitest"
import { requestContext, openConnection, isRunning, stubSpec, textOf, until } from "../testing/mcp/connections.ts"
import { clientLimits } from "./limits.ts"

test("a message of 100 MB ends the server and its calls with a sentence, and nothing else", async () => {
  const { connection } = openConnection(stubSpec())
  const other = connection.callTool("slow", {}, requestContext())
  await connection.ensureConnected()
  const { pid } = connection.state
  const sentence = /^The MCP server stub sent more than 10 MB in one message while .* may have run/
  const ending = { code: "upstream_unavailable", message: expect.stringMatching(sentence) as string }
  await expect(connection.callTool("huge", { mb: 100 }, requestContext())).rejects.toMatchObject(ending)
  await expect(other).rejects.toMatchObject(ending)
  await until(() => !isRunning(pid!))
  expect(textOf(await connection.callTool("huge", { mb: 9 }, requestContext()))).toHaveLength(9 * 1024 * 1024)
})

test("a flood of notifications is limited, logged once, and does not delay the response", async () => {
  const { connection, infos, warnings } = openConnection(stubSpec())
  await connection.ensureConnected()
  const logs: unknown[] = []
  const context = requestContext({ onLog: (message) => logs.push(message) })
  const began = performance.now()
  expect(textOf(await connection.callTool("flood", { times: 8000 }, context))).toBe("flooded")
  const seconds = Math.ceil((performance.now() - began) / 1000)
  expect(logs.length).toBeLessThanOrEqual((1 + seconds) * clientLimits.notificationsPerSecond)
  expect(warnings).toEqual(["The MCP server stub sends more than 500 notifications a second; the others are dropped."])
  expect(infos).toEqual([])
})

test("a flood of changes causes few refreshes", async () => {
  const { connection, offers } = openConnection(stubSpec())
  await connection.ensureConnected()
  const began = performance.now()
  await connection.callTool(
    "flood",
    { times: 5000, method: "notifications/tools/list_changed", params: {} },
    requestContext(),
  )
  await until(() => offers.length > 1)
  await connection.refresh()
  const refreshes = Math.ceil((performance.now() - began) / clientLimits.refreshMs)
  expect(offers.length).toBeLessThanOrEqual(2 + refreshes)
})

test("more than 10,000 tools are refused; a tool without a name is left out", async () => {
  const many = openConnection(stubSpec({ tools: 10_001, page: 5000 }))
  await expect(many.connection.ensureConnected()).rejects.toMatchObject({
    message: "The MCP server stub offers more than 10000 tools, which is the limit. The next call tries again.",
  })
  const nameless = openConnection(stubSpec({ nameless: true }))
  await nameless.connection.ensureConnected()
  expect(nameless.offers[0]!.tools.every(({ name }) => typeof name === "string")).toBe(true)
  expect(nameless.warnings).toEqual([
    expect.stringMatching(/lists something in tools that is not .* \(name: .*; it is left out/),
  ])
})
