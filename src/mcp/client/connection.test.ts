import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { asking, connect, stubSpec, textOf, until } from "../testing/connections.ts"
import { clientLimits } from "./limits.ts"

describe.each(["legacy", "modern"])("a stdio server of the %s era", (era) => {
  const version = era === "legacy" ? "2025-11-25" : "2026-07-28"

  test("is connected, tells what it offers and answers calls [S4-60] [S4-61] [S4-62]", async () => {
    const { connection, offers, states } = connect(stubSpec({ era, tools: 5, page: 7 }))
    expect(connection.state).toMatchObject({ state: "resting", transport: "stdio", restarts: 0 })
    const result = await connection.callTool("echo", { text: "hello" }, asking())
    expect(textOf(result)).toBe("hello")
    expect(connection.state).toMatchObject({ state: "connected", protocolVersion: version, restarts: 0 })
    expect(states).toEqual(["connecting", "connected"])
    expect(offers).toHaveLength(1)
    expect(offers[0]!.tools).toHaveLength(31)
    expect(offers[0]).toMatchObject({
      instructions: "Be kind.",
      serverInfo: { name: "stub", version: "1.0.0" },
      protocolVersion: version,
      resources: [{ uri: "stub://one" }],
      templates: [{ uriTemplate: "stub://{name}" }],
      prompts: [{ name: "greet" }],
      capabilities: { tools: true, resources: true, subscribe: true, prompts: true, completions: true, logging: true },
    })
  })

  test("has its resources read, its prompts got and its arguments completed", async () => {
    const { connection } = connect(stubSpec({ era }))
    expect(await connection.readResource("stub://one", asking())).toMatchObject({ contents: [{ text: "one" }] })
    expect(await connection.getPrompt({ name: "greet", arguments: { who: "Ada" } }, asking())).toMatchObject({
      messages: [{ content: { text: "Hello Ada" } }],
    })
    const params = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "A" } }
    expect(await connection.complete(params, asking())).toMatchObject({ completion: { values: ["A!"] } })
  })

  test("sends progress and log messages to the call that runs", async () => {
    const { connection } = connect(stubSpec({ era }))
    const progress: unknown[] = []
    const logs: unknown[] = []
    await connection.callTool("progress", { times: 2 }, asking({ onProgress: (step) => progress.push(step) }))
    await connection.callTool("log", { text: "so far" }, asking({ onLog: (message) => logs.push(message) }))
    expect(progress).toEqual([
      { progress: 1, total: 2, message: "step 1" },
      { progress: 2, total: 2, message: "step 2" },
    ])
    expect(logs).toEqual([{ level: "info", logger: "stub", data: "so far" }])
  })

  test("is told that a call was cancelled", async () => {
    const { connection } = connect(stubSpec({ era }))
    await connection.ensure()
    const stop = new AbortController()
    const call = connection.callTool("slow", {}, asking({ signal: stop.signal }))
    await connection.callTool("echo", { text: "" }, asking())
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: "aborted" })
    const cancelled = JSON.parse(textOf(await connection.callTool("cancelled", {}, asking()))) as unknown[]
    expect(cancelled).toHaveLength(1)
  })

  test("is told to stop when it takes too long", async () => {
    const { connection } = connect(stubSpec({ era }))
    const call = connection.callTool("slow", {}, asking({ timeoutMs: 60 }))
    await expect(call).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringMatching(/^The MCP server stub did not answer within 0.06 s .* may have run/) as string,
    })
    expect(JSON.parse(textOf(await connection.callTool("cancelled", {}, asking())))).toHaveLength(1)
  })

  test("asks a person by the call that runs", async () => {
    const { connection } = connect(stubSpec({ era }))
    await connection.ensure()
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>) => {
      asked.push(params)
      return Promise.resolve({ action: "accept" as const, content: { name: "Ada" } })
    }
    const result = await connection.callTool("elicit", { message: "Who?" }, asking({ elicit }))
    expect(asked).toMatchObject([{ mode: "form", message: "Who?", requestedSchema: { type: "object" } }])
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { action: "accept", content: { name: "Ada" } } })
  })

  test("may send a person to an address", async () => {
    const { connection } = connect(stubSpec({ era }))
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>) => {
      asked.push(params)
      return Promise.resolve({ action: "accept" as const })
    }
    await connection.callTool("elicit", { url: "https://example.com/form" }, asking({ elicit }))
    expect(asked).toMatchObject([{ mode: "url", url: "https://example.com/form" }])
  })

  test("gets a no where nobody can be asked", async () => {
    const { connection } = connect(stubSpec({ era }))
    const result = await connection.callTool("elicit", {}, asking())
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { action: "decline" } })
  })

  test("is told that the workspace is its root", async () => {
    const { connection } = connect(stubSpec({ era }, { cwd: process.cwd() }), { workspace: "/srv/a b" })
    const result = await connection.callTool("roots", {}, asking())
    const roots = [{ uri: pathToFileURL("/srv/a b").href, name: "a b" }]
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { roots } })
  })

  test("is told the roots of the program that called, where that is configured", async () => {
    const { connection } = connect(stubSpec({ era }, { roots: "caller" }))
    const askCaller = (method: string) => Promise.resolve({ roots: [{ uri: `file:///${method}` }] })
    const result = await connection.callTool("roots", {}, asking({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { roots: [{ uri: "file:///roots/list" }] } })
    expect(JSON.parse(textOf(await connection.callTool("roots", {}, asking())))).toMatchObject({
      result: { roots: [] },
    })
  })

  test("samples by the program that called, where that is configured", async () => {
    const { connection } = connect(stubSpec({ era }, { sampling: "caller" }))
    const answer = { model: "m", role: "assistant", content: { type: "text", text: "yes" } }
    const askCaller = () => Promise.resolve(answer)
    const result = await connection.callTool("sample", {}, asking({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({ result: answer })
  })

  test("announces a change, and is asked for what it offers once in a while, however often it said so", async () => {
    const { connection, offers } = connect(stubSpec({ era }))
    await connection.ensure()
    await connection.callTool("echo", { text: "" }, asking())
    const began = performance.now()
    await connection.callTool("grow", { by: 3, times: 50 }, asking())
    await until(() => offers.length > 1)
    expect(offers[1]!.tools).toHaveLength(offers[0]!.tools.length + 3)
    await connection.refresh()
    const rounds = Math.ceil((performance.now() - began) / clientLimits.refreshMs)
    expect(offers.length).toBeLessThanOrEqual(2 + rounds)
  })

  test("tells of changes of a resource while somebody wants to know", async () => {
    const { connection, updates } = connect(stubSpec({ era }))
    const first = await connection.subscribe("stub://one")
    const second = await connection.subscribe("stub://one")
    await connection.callTool("change", { uri: "stub://one" }, asking())
    await until(() => updates.length === 1)
    await first()
    await first()
    await connection.callTool("change", { uri: "stub://one" }, asking())
    await until(() => updates.length === 2)
    await second()
    await connection.callTool("change", { uri: "stub://one" }, asking())
    await connection.callTool("echo", { text: "" }, asking())
    expect(updates).toEqual(["stub://one", "stub://one"])
  })

  test("is told again what somebody wants to know of when it was started again", async () => {
    const { connection, updates } = connect(stubSpec({ era }))
    const first = await connection.subscribe("stub://one")
    await connection.subscribe("stub://one")
    await first()
    await connection.callTool("die", {}, asking()).catch(() => {})
    while (updates.length === 0) await connection.callTool("change", { uri: "stub://one" }, asking())
    expect(updates[0]).toBe("stub://one")
  })

  test("that dies in a call ends it with a sentence, and is started again for the next", async () => {
    const { connection, warnings } = connect(stubSpec({ era }))
    const other = connection.callTool("slow", {}, asking())
    await connection.ensure()
    const ending = {
      code: "upstream_unavailable",
      message: expect.stringMatching(
        /^The MCP server stub ended with exit code 7 while .* may have run there/,
      ) as string,
    }
    await expect(connection.callTool("die", { half: true }, asking())).rejects.toMatchObject(ending)
    await expect(other).rejects.toMatchObject(ending)
    expect(connection.state).toMatchObject({ state: "resting", pid: undefined })
    expect(warnings).toEqual(["The MCP server stub ended with exit code 7."])
    expect(textOf(await connection.callTool("echo", { text: "again" }, asking()))).toBe("again")
    expect(connection.state).toMatchObject({ state: "connected", restarts: 1 })
  })

  test("keeps its refusals and its failures apart", async () => {
    const { connection } = connect(stubSpec({ era }))
    expect(await connection.callTool("fail", { text: "no" }, asking())).toMatchObject({ isError: true })
    await expect(connection.callTool("refuse", {}, asking())).rejects.toMatchObject({
      name: "ToolFailure",
      toolCode: "mcp_error",
      message: expect.stringContaining("The MCP server stub refused the call: ") as string,
      metadata: { rpcCode: -32602 },
    })
  })
})
