import { expect, test } from "vitest"
import { asking, connect, isRunning, stubSpec, textOf, until } from "../testing/connections.ts"
import { clientLimits } from "./limits.ts"

test("a message of a hundred megabytes ends the server and its calls with a sentence, and the house lives", async () => {
  const { connection } = connect(stubSpec())
  const other = connection.callTool("slow", {}, asking())
  await connection.ensure()
  const { pid } = connection.state
  const sentence = /^The MCP server stub sent more than 10 MB in one message while .* may have run/
  const ending = { code: "upstream_unavailable", message: expect.stringMatching(sentence) as string }
  await expect(connection.callTool("huge", { mb: 100 }, asking())).rejects.toMatchObject(ending)
  await expect(other).rejects.toMatchObject(ending)
  await until(() => !isRunning(pid!))
  expect(textOf(await connection.callTool("huge", { mb: 9 }, asking()))).toHaveLength(9 * 1024 * 1024)
})

test("a flood of notifications is cut, told once, and does not keep the answer back", async () => {
  const { connection, infos, warnings } = connect(stubSpec())
  await connection.ensure()
  const logs: unknown[] = []
  const given = asking({ onLog: (message) => logs.push(message) })
  const began = performance.now()
  expect(textOf(await connection.callTool("flood", { times: 8000 }, given))).toBe("flooded")
  const seconds = Math.ceil((performance.now() - began) / 1000)
  expect(logs.length).toBeLessThanOrEqual((1 + seconds) * clientLimits.notesPerSecond)
  expect(warnings).toEqual(["The MCP server stub sends more than 500 notifications a second; what is more is dropped."])
  expect(infos).toEqual([])
})

test("a flood of changes makes few questions", async () => {
  const { connection, offers } = connect(stubSpec())
  await connection.ensure()
  const began = performance.now()
  await connection.callTool("flood", { times: 5000, method: "notifications/tools/list_changed", params: {} }, asking())
  await until(() => offers.length > 1)
  await connection.refresh()
  const rounds = Math.ceil((performance.now() - began) / clientLimits.refreshMs)
  expect(offers.length).toBeLessThanOrEqual(2 + rounds)
})

test("lines that are no messages are passed over", async () => {
  const { connection } = connect(stubSpec())
  expect(textOf(await connection.callTool("broken", {}, asking()))).toBe("still here")
})

test("more than 10,000 tools are refused; what has no name is left out", async () => {
  const many = connect(stubSpec({ tools: 10_001, page: 5000 }))
  await expect(many.connection.ensure()).rejects.toMatchObject({
    message:
      "The MCP server stub offers more than 10000 tools, which is the most that is taken. The next call tries again.",
  })
  const nameless = connect(stubSpec({ nameless: true }))
  await nameless.connection.ensure()
  expect(nameless.offers[0]!.tools.every(({ name }) => typeof name === "string")).toBe(true)
  expect(nameless.warnings).toEqual([
    expect.stringMatching(/lists something in tools that is not .* \(name: .*; it is left out/),
  ])
})
