import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { requestContext, openConnection, stubSpec, textOf, until } from "../testing/mcp/connections.ts"
import { clientLimits } from "./limits.ts"

describe.each(["legacy", "modern"])("a stdio server of the %s era", (era) => {
  const version = era === "legacy" ? "2025-11-25" : "2026-07-28"

  test("is connected, lists what it offers and answers calls", async () => {
    const { connection, offers, states } = openConnection(stubSpec({ era, tools: 5, page: 7 }))
    expect(connection.state).toMatchObject({ state: "resting", transport: "stdio", restarts: 0 })
    const result = await connection.callTool("echo", { text: "hello" }, requestContext())
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

  test("answers requests for resources, prompts and completions", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    expect(await connection.readResource("stub://one", requestContext())).toMatchObject({ contents: [{ text: "one" }] })
    expect(await connection.getPrompt({ name: "greet", arguments: { who: "Ada" } }, requestContext())).toMatchObject({
      messages: [{ content: { text: "Hello Ada" } }],
    })
    const params = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "A" } }
    expect(await connection.complete(params, requestContext())).toMatchObject({ completion: { values: ["A!"] } })
  })

  test("sends progress and log messages to the call that runs", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    const progress: unknown[] = []
    const logs: unknown[] = []
    await connection.callTool("progress", { times: 2 }, requestContext({ onProgress: (step) => progress.push(step) }))
    await connection.callTool("log", { text: "so far" }, requestContext({ onLog: (message) => logs.push(message) }))
    expect(progress).toEqual([
      { progress: 1, total: 2, message: "step 1" },
      { progress: 2, total: 2, message: "step 2" },
    ])
    expect(logs).toEqual([{ level: "info", logger: "stub", data: "so far" }])
  })

  test("is notified that a call was cancelled", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    await connection.ensureConnected()
    const stop = new AbortController()
    const call = connection.callTool("slow", {}, requestContext({ signal: stop.signal }))
    await connection.callTool("echo", { text: "" }, requestContext())
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: "aborted" })
    const cancelled = JSON.parse(textOf(await connection.callTool("cancelled", {}, requestContext()))) as unknown[]
    expect(cancelled).toHaveLength(1)
  })

  test("is told to stop when it takes too long", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    const call = connection.callTool("slow", {}, requestContext({ timeoutMs: 60 }))
    await expect(call).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringMatching(/^The MCP server stub did not answer within 0.06 s .* may have run/) as string,
    })
    expect(JSON.parse(textOf(await connection.callTool("cancelled", {}, requestContext())))).toHaveLength(1)
  })

  test("asks a person through the running call", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    await connection.ensureConnected()
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>) => {
      asked.push(params)
      return Promise.resolve({ action: "accept" as const, content: { name: "Ada" } })
    }
    const result = await connection.callTool("elicit", { message: "Who?" }, requestContext({ elicit }))
    expect(asked).toMatchObject([{ mode: "form", message: "Who?", requestedSchema: { type: "object" } }])
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { action: "accept", content: { name: "Ada" } } })
  })

  test("may ask a person to open a URL", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>) => {
      asked.push(params)
      return Promise.resolve({ action: "accept" as const })
    }
    await connection.callTool("elicit", { url: "https://example.com/form" }, requestContext({ elicit }))
    expect(asked).toMatchObject([{ mode: "url", url: "https://example.com/form" }])
  })

  test("gets a decline if no person can be asked", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    const result = await connection.callTool("elicit", {}, requestContext())
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { action: "decline" } })
  })

  test("gets no roots unless that is configured", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    await connection.ensureConnected()
    const declared = await connection.callTool(era === "modern" ? "able" : "capabilities", {}, requestContext())
    expect(Object.keys(JSON.parse(textOf(declared)) as object)).toEqual(["elicitation"])
    const result = await connection.callTool("roots", {}, requestContext())
    expect(textOf(result)).not.toContain("file:")
  })

  test("gets the workspace as its root, if that is configured", async () => {
    const spec = stubSpec({ era }, { cwd: process.cwd(), roots: "workspace" })
    const { connection } = openConnection(spec, { workspace: "/srv/a b" })
    const result = await connection.callTool("roots", {}, requestContext())
    const roots = [{ uri: pathToFileURL("/srv/a b").href, name: "a b" }]
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { roots } })
  })

  test("gets the roots of the calling program, if that is configured", async () => {
    const { connection } = openConnection(stubSpec({ era }, { roots: "caller" }))
    const askCaller = (method: string) => Promise.resolve({ roots: [{ uri: `file:///${method}` }] })
    const result = await connection.callTool("roots", {}, requestContext({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({ result: { roots: [{ uri: "file:///roots/list" }] } })
    expect(JSON.parse(textOf(await connection.callTool("roots", {}, requestContext())))).toMatchObject({
      result: { roots: [] },
    })
  })

  test("samples with the calling program, if that is configured", async () => {
    const { connection } = openConnection(stubSpec({ era }, { sampling: "caller" }))
    const answer = { model: "m", role: "assistant", content: { type: "text", text: "yes" } }
    const askCaller = () => Promise.resolve(answer)
    const result = await connection.callTool("sample", {}, requestContext({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({ result: answer })
  })

  test("announces changes, and is asked for its lists only a few times a second", async () => {
    const { connection, offers } = openConnection(stubSpec({ era }))
    await connection.ensureConnected()
    await connection.callTool("echo", { text: "" }, requestContext())
    const began = performance.now()
    await connection.callTool("grow", { by: 3, times: 50 }, requestContext())
    await until(() => offers.length > 1)
    expect(offers[1]!.tools).toHaveLength(offers[0]!.tools.length + 3)
    await connection.refresh()
    const refreshes = Math.ceil((performance.now() - began) / clientLimits.refreshMs)
    expect(offers.length).toBeLessThanOrEqual(2 + refreshes)
  })

  test("reports changes of a resource while there are subscriptions", async () => {
    const { connection, updates } = openConnection(stubSpec({ era }))
    const first = await connection.subscribe("stub://one")
    const second = await connection.subscribe("stub://one")
    await connection.callTool("change", { uri: "stub://one" }, requestContext())
    await until(() => updates.length === 1)
    await first()
    await first()
    await connection.callTool("change", { uri: "stub://one" }, requestContext())
    await until(() => updates.length === 2)
    await second()
    await connection.callTool("change", { uri: "stub://one" }, requestContext())
    await connection.callTool("echo", { text: "" }, requestContext())
    expect(updates).toEqual(["stub://one", "stub://one"])
  })

  test("gets the subscriptions again when it was restarted", async () => {
    const { connection, updates } = openConnection(stubSpec({ era }))
    const first = await connection.subscribe("stub://one")
    await connection.subscribe("stub://one")
    await first()
    await connection.callTool("die", {}, requestContext()).catch(() => {})
    while (updates.length === 0) await connection.callTool("change", { uri: "stub://one" }, requestContext())
    expect(updates[0]).toBe("stub://one")
  })

  test("that exits during a call ends it with a sentence, and is restarted for the next", async () => {
    const { connection, warnings } = openConnection(stubSpec({ era }))
    const other = connection.callTool("slow", {}, requestContext())
    await connection.ensureConnected()
    const ending = {
      code: "upstream_unavailable",
      message: expect.stringMatching(
        /^The MCP server stub ended with exit code 7 while .* may have run there/,
      ) as string,
    }
    await expect(connection.callTool("die", { half: true }, requestContext())).rejects.toMatchObject(ending)
    await expect(other).rejects.toMatchObject(ending)
    expect(connection.state).toMatchObject({ state: "resting", pid: undefined })
    expect(warnings).toEqual(["The MCP server stub ended with exit code 7."])
    expect(textOf(await connection.callTool("echo", { text: "again" }, requestContext()))).toBe("again")
    expect(connection.state).toMatchObject({ state: "connected", restarts: 1 })
  })

  test("can refuse a call or return a failure, which are different results", async () => {
    const { connection } = openConnection(stubSpec({ era }))
    expect(await connection.callTool("fail", { text: "no" }, requestContext())).toMatchObject({ isError: true })
    await expect(connection.callTool("refuse", {}, requestContext())).rejects.toMatchObject({
      name: "ToolFailure",
      toolCode: "mcp_error",
      message: expect.stringContaining("The MCP server stub refused the call: ") as string,
      metadata: { rpcCode: -32602 },
    })
  })
})
