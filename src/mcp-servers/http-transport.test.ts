import { describe, expect, test } from "vitest"
import { requestContext, openConnection, textOf, until } from "../testing/mcp/connections.ts"
import {
  readTestRequestBody,
  startHttpServer,
  plainAnswer,
  sessionServer,
  sseServer,
  bothErasServer,
  type PlainMessage,
} from "../testing/mcp/http-servers.ts"
import { httpSpec, customServer } from "./testing/http-transport.ts"

describe.each([
  ["of today", bothErasServer, "2026-07-28"],
  ["of 2025 with sessions", sessionServer, "2025-11-25"],
])("a server by HTTP %s", (_, serve, version) => {
  test("is connected and called with the configured headers", async () => {
    const server = await serve()
    const { connection, offers } = openConnection(httpSpec(server.url, { headers: { authorization: "Bearer abc" } }))
    expect(textOf(await connection.callTool("echo", { text: "far" }, requestContext()))).toBe("far")
    expect(connection.state).toMatchObject({ state: "connected", transport: "http", protocolVersion: version })
    expect(offers[0]!.tools.map(({ name }) => name)).toEqual(["echo", "slow", "progress", "elicit"])
    expect(server.requests.every(({ headers }) => headers.authorization === "Bearer abc")).toBe(true)
  })

  test("sends progress, and asks a person", async () => {
    const { url } = await serve()
    const { connection } = openConnection(httpSpec(url))
    const steps: number[] = []
    await connection.callTool("progress", {}, requestContext({ onProgress: ({ progress }) => steps.push(progress) }))
    expect(steps).toEqual([1, 2])
    const elicit = () => Promise.resolve({ action: "accept" as const, content: { name: "Ada" } })
    const result = await connection.callTool("elicit", {}, requestContext({ elicit }))
    expect(JSON.parse(textOf(result))).toMatchObject({ action: "accept", content: { name: "Ada" } })
  })

  test("can be cancelled, and times out", async () => {
    const { url } = await serve()
    const { connection } = openConnection(httpSpec(url))
    await connection.ensureConnected()
    await expect(connection.callTool("slow", {}, requestContext({ timeoutMs: 50 }))).rejects.toMatchObject({
      code: "timeout",
    })
    const stop = new AbortController()
    const call = connection.callTool("slow", {}, requestContext({ signal: stop.signal }))
    setTimeout(() => stop.abort(), 20)
    await expect(call).rejects.toMatchObject({ code: "aborted" })
  })

  test("that stops ends its calls with a sentence, and is connected again when it is back", async () => {
    const server = await serve()
    const { connection } = openConnection(httpSpec(server.url))
    await connection.ensureConnected()
    const call = connection.callTool("slow", {}, requestContext())
    const ended = expect(call).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/^The MCP server far .* may have run/) as string,
    })
    await connection.callTool("echo", { text: "" }, requestContext())
    await server.stop()
    await ended
    await expect(connection.callTool("echo", { text: "" }, requestContext())).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/nothing listens at its address/) as string,
    })
    await serve(server.port)
    expect(textOf(await connection.callTool("echo", { text: "back" }, requestContext()))).toBe("back")
  })
})

test("the protocol of a server is not probed again", async () => {
  const server = await bothErasServer()
  const { connection } = openConnection(httpSpec(server.url))
  await connection.ensureConnected()
  const greeting = server.requests.length
  await server.stop()
  await connection.callTool("echo", { text: "" }, requestContext()).catch(() => {})
  const again = await bothErasServer(server.port)
  await connection.ensureConnected()
  await until(() => again.requests.length > 0)
  const methods = (requests: typeof server.requests) => requests.map(({ headers }) => headers["mcp-method"])
  expect(methods(server.requests.slice(0, greeting))).toContain("server/discover")
  expect(methods(again.requests)).not.toContain("server/discover")
})

test("lists are fetched again when a server announces changes, also after its stream broke", async () => {
  const server = await bothErasServer()
  const { connection, offers } = openConnection(httpSpec(server.url))
  await connection.ensureConnected()
  const listens = () => server.requests.filter(({ headers }) => headers["mcp-method"] === "subscriptions/listen").length
  await until(() => listens() === 1)
  await connection.callTool("echo", { text: "" }, requestContext())
  server.announceTools()
  await until(() => offers.length === 2)
  server.dropResponses()
  await until(() => offers.length === 3)
  expect(listens()).toBe(2)
})

test("a session that the server forgot is replaced, and the call is sent in the new one", async () => {
  const server = await sessionServer()
  const { connection } = openConnection(httpSpec(server.url))
  await connection.ensureConnected()
  server.sessions.clear()
  expect(textOf(await connection.callTool("echo", { text: "anew" }, requestContext()))).toBe("anew")
  expect(server.sessions.size).toBe(1)
  expect(connection.state).toMatchObject({ state: "connected", restarts: 1 })
})

test("closing ends the session on the server", async () => {
  const server = await sessionServer()
  const { connection } = openConnection(httpSpec(server.url))
  await connection.ensureConnected()
  expect(server.sessions.size).toBe(1)
  await connection.close()
  expect(server.sessions.size).toBe(0)
})

describe("a server with SSE only", () => {
  test("is reached by a plain URL, and without probing when it is needed again", async () => {
    const server = await sseServer()
    const { connection } = openConnection(httpSpec(server.url))
    expect(textOf(await connection.callTool("echo", { text: "old" }, requestContext()))).toBe("old")
    expect(connection.state).toMatchObject({ state: "connected", transport: "sse" })
    const posts = server.requests.filter(({ method }) => method === "POST").length
    for (const stream of server.streams) stream.destroy()
    await until(() => connection.state.state === "resting")
    await connection.ensureConnected()
    expect(server.requests.filter(({ method }) => method === "POST").length - posts).toBe(3)
  })

  test("is not tried if another transport is configured", async () => {
    const server = await sseServer()
    const { connection } = openConnection(httpSpec(server.url, { transport: "http" }))
    await expect(connection.ensureConnected()).rejects.toMatchObject({
      message: "The MCP server far is not connected: it answers with HTTP 405. The next call tries again.",
    })
    const forced = openConnection(httpSpec(server.url, { transport: "sse" }))
    await forced.connection.ensureConnected()
    expect(forced.connection.state.transport).toBe("sse")
  })
})

test("an event stream that ends without a response ends its call", async () => {
  const server = await customServer((_, respond) => {
    respond("data: {}\n\n", "text/event-stream")
    return true
  })
  const { connection } = openConnection(httpSpec(server.url))
  await expect(connection.callTool("echo", {}, requestContext())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message:
      "The MCP server far ended its answer before it was complete. It may have run there; check before you call it again.",
  })
})

test.each([
  ["{", "application/json"],
  ["[1, 2]", "application/json"],
  ["nothing", "application/json"],
  ["<p>Hello</p>", "text/html"],
])("a response that is %s ends its call, and the connection stays", async (text, type) => {
  const server = await customServer((_, respond) => {
    respond(text, type)
    return true
  })
  const { connection } = openConnection(httpSpec(server.url))
  await expect(connection.callTool("echo", {}, requestContext())).rejects.toMatchObject({
    code: "output_invalid",
    message: expect.stringMatching(/^The MCP server far sent an invalid result: /) as string,
  })
  expect(connection.state.state).toBe("connected")
})

test("a JSON-RPC error is reported whatever the HTTP status is", async () => {
  const { url } = await startHttpServer(async (request, response) => {
    const message = JSON.parse((await readTestRequestBody(request)) || "{}") as PlainMessage
    const result = plainAnswer(message)
    if (result === undefined) return void response.writeHead(202).end()
    const error = { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Not here.", data: { a: 1 } } }
    const isCall = message.method === "tools/call"
    response.writeHead(isCall ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(isCall ? error : result))
  })
  const { connection } = openConnection(httpSpec(url))
  await expect(connection.callTool("echo", {}, requestContext())).rejects.toMatchObject({
    name: "ToolFailure",
    message: "The MCP server far refused the call: Not here.",
    metadata: { rpcCode: -32601, rpcMessage: "Not here.", rpcData: { a: 1 } },
  })
  expect(connection.state).toMatchObject({ state: "connected", restarts: 0 })
})

test.each([
  [401, "it refuses us with HTTP 401; check its headers in the configuration"],
  [503, "it answers with HTTP 503"],
])("a server that answers with %i says so", async (status, why) => {
  const { url } = await startHttpServer((_, response) => void response.writeHead(status).end())
  const { connection } = openConnection(httpSpec(url))
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: `The MCP server far is not connected: ${why}. The next call tries again.`,
  })
})

test("a server that accepts and never answers is given up", async () => {
  const { url } = await startHttpServer(() => {})
  const { connection } = openConnection(httpSpec(url, { connectTimeoutMs: 100 }))
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: "The MCP server far did not finish initializing within 0.1 s. The next call tries again.",
  })
})

test("a redirect to another server is not followed", async () => {
  const elsewhere = await bothErasServer()
  const { url } = await startHttpServer(
    (_, response) => void response.writeHead(307, { location: elsewhere.url }).end(),
  )
  const { connection } = openConnection(httpSpec(url, { headers: { authorization: "Bearer abc" } }))
  await expect(connection.ensureConnected()).rejects.toMatchObject({ code: "upstream_unavailable" })
  expect(elsewhere.requests).toEqual([])
})
