import { describe, expect, test } from "vitest"
import { asking, connect, plainSpec, textOf, until } from "../testing/connections.ts"
import {
  bodyOf,
  listen,
  plainAnswer,
  sessionServer,
  sseServer,
  todaysServer,
  type PlainMessage,
} from "../testing/http-servers.ts"

const spec = (url: string, more: Parameters<typeof plainSpec>[0] = {}) => plainSpec({ name: "far", url, ...more })

describe.each([
  ["of today", todaysServer, "2026-07-28"],
  ["of 2025 with sessions", sessionServer, "2025-11-25"],
])("a server by HTTP %s", (_, serve, version) => {
  test("is connected and called, with our headers [C-27]", async () => {
    const server = await serve()
    const { connection, offers } = connect(spec(server.url, { headers: { authorization: "Bearer abc" } }))
    expect(textOf(await connection.callTool("echo", { text: "far" }, asking()))).toBe("far")
    expect(connection.state).toMatchObject({ state: "connected", transport: "http", protocolVersion: version })
    expect(offers[0]!.tools.map(({ name }) => name)).toEqual(["echo", "slow", "progress", "elicit"])
    expect(server.requests.every(({ headers }) => headers.authorization === "Bearer abc")).toBe(true)
  })

  test("sends progress, and asks a person", async () => {
    const { url } = await serve()
    const { connection } = connect(spec(url))
    const steps: number[] = []
    await connection.callTool("progress", {}, asking({ onProgress: ({ progress }) => steps.push(progress) }))
    expect(steps).toEqual([1, 2])
    const elicit = () => Promise.resolve({ action: "accept" as const, content: { name: "Ada" } })
    const result = await connection.callTool("elicit", {}, asking({ elicit }))
    expect(JSON.parse(textOf(result))).toMatchObject({ action: "accept", content: { name: "Ada" } })
  })

  test("is told when a call is cancelled, and when it takes too long", async () => {
    const { url } = await serve()
    const { connection } = connect(spec(url))
    await connection.ensure()
    await expect(connection.callTool("slow", {}, asking({ timeoutMs: 50 }))).rejects.toMatchObject({ code: "timeout" })
    const stop = new AbortController()
    const call = connection.callTool("slow", {}, asking({ signal: stop.signal }))
    setTimeout(() => stop.abort(), 20)
    await expect(call).rejects.toMatchObject({ code: "aborted" })
  })

  test("that goes away ends its calls with a sentence, and is found again when it is back", async () => {
    const server = await serve()
    const { connection } = connect(spec(server.url))
    await connection.ensure()
    const call = connection.callTool("slow", {}, asking())
    const ended = expect(call).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/^The MCP server far .* may have run/) as string,
    })
    await connection.callTool("echo", { text: "" }, asking())
    await server.stop()
    await ended
    await expect(connection.callTool("echo", { text: "" }, asking())).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/nobody listens at its address/) as string,
    })
    await serve(server.port)
    expect(textOf(await connection.callTool("echo", { text: "back" }, asking()))).toBe("back")
  })
})

test("what a server was found to speak is not asked for again", async () => {
  const server = await todaysServer()
  const { connection } = connect(spec(server.url))
  await connection.ensure()
  const greeting = server.requests.length
  await server.stop()
  await connection.callTool("echo", { text: "" }, asking()).catch(() => {})
  const again = await todaysServer(server.port)
  await connection.ensure()
  await until(() => again.requests.length > 0)
  const methods = (requests: typeof server.requests) => requests.map(({ headers }) => headers["mcp-method"])
  expect(methods(server.requests.slice(0, greeting))).toContain("server/discover")
  expect(methods(again.requests)).not.toContain("server/discover")
})

test("changes that a server of today announces are asked for, also after its stream of them broke", async () => {
  const server = await todaysServer()
  const { connection, offers } = connect(spec(server.url))
  await connection.ensure()
  const listens = () => server.requests.filter(({ headers }) => headers["mcp-method"] === "subscriptions/listen").length
  await until(() => listens() === 1)
  await connection.callTool("echo", { text: "" }, asking())
  server.announceTools()
  await until(() => offers.length === 2)
  server.breakOff()
  await until(() => offers.length === 3)
  expect(listens()).toBe(2)
})

test("a session that the server forgot is begun anew, and the call is made there", async () => {
  const server = await sessionServer()
  const { connection } = connect(spec(server.url))
  await connection.ensure()
  server.sessions.clear()
  expect(textOf(await connection.callTool("echo", { text: "anew" }, asking()))).toBe("anew")
  expect(server.sessions.size).toBe(1)
  expect(connection.state).toMatchObject({ state: "connected", restarts: 1 })
})

test("a session is ended when we go", async () => {
  const server = await sessionServer()
  const { connection } = connect(spec(server.url))
  await connection.ensure()
  expect(server.sessions.size).toBe(1)
  await connection.close()
  expect(server.sessions.size).toBe(0)
})

describe("a server that speaks only SSE", () => {
  test("is reached by a plain address, and at once when it is needed again [C-27]", async () => {
    const server = await sseServer()
    const { connection } = connect(spec(server.url))
    expect(textOf(await connection.callTool("echo", { text: "old" }, asking()))).toBe("old")
    expect(connection.state).toMatchObject({ state: "connected", transport: "sse" })
    const posts = server.requests.filter(({ method }) => method === "POST").length
    for (const stream of server.streams) stream.destroy()
    await until(() => connection.state.state === "resting")
    await connection.ensure()
    expect(server.requests.filter(({ method }) => method === "POST").length - posts).toBe(3)
  })

  test("is not looked for where another way is configured", async () => {
    const server = await sseServer()
    const { connection } = connect(spec(server.url, { transport: "http" }))
    await expect(connection.ensure()).rejects.toMatchObject({
      message: "The MCP server far is not connected: it answers with HTTP 405. The next call tries again.",
    })
    const forced = connect(spec(server.url, { transport: "sse" }))
    await forced.connection.ensure()
    expect(forced.connection.state.transport).toBe("sse")
  })
})

/** A server of 2025 that answers by JSON, except where the test has another idea of a call. */
function oddServer(answer: (message: PlainMessage, respond: (text: string, type?: string) => void) => boolean) {
  return listen(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end()
    const message = JSON.parse(await bodyOf(request)) as PlainMessage
    const respond = (text: string, type = "application/json") => {
      response.writeHead(200, { "content-type": type })
      response.end(text)
    }
    if (message.method === "tools/call" && answer(message, respond)) return
    const result = plainAnswer(message)
    if (result === undefined) return void response.writeHead(202).end()
    respond(JSON.stringify(result))
  })
}

const big = (id: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "x".repeat(20 * 1024 * 1024) }] } })

test.each([
  ["by JSON", (id: unknown) => [big(id), "application/json"] as const],
  ["as an event", (id: unknown) => [`data: ${big(id)}\n\n`, "text/event-stream"] as const],
])("an answer that is too large %s ends its call only", async (_, answer) => {
  const server = await oddServer(({ id, params }, respond) => {
    if (params?.arguments?.["text"] !== "big") return false
    const [body, type] = answer(id)
    respond(body, type)
    return true
  })
  const { connection } = connect(spec(server.url))
  await connection.ensure()
  await expect(connection.callTool("echo", { text: "big" }, asking())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(/^The MCP server far sent more than 10 MB in one message.* may have run/) as string,
  })
  expect(textOf(await connection.callTool("echo", { text: "small" }, asking()))).toBe("small")
  expect(connection.state).toMatchObject({ state: "connected", restarts: 0 })
})

test("an event stream that ends without an answer ends its call", async () => {
  const server = await oddServer((_, respond) => {
    respond("data: {}\n\n", "text/event-stream")
    return true
  })
  const { connection } = connect(spec(server.url))
  await expect(connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message:
      "The MCP server far ended its answer before it was complete. It may have run there; look before you ask for it again.",
  })
})

test.each([
  ["{", "application/json"],
  ["[1, 2]", "application/json"],
  ["nothing", "application/json"],
  ["<p>Hello</p>", "text/html"],
])("an answer that is %s ends its call, and the connection is kept", async (text, type) => {
  const server = await oddServer((_, respond) => {
    respond(text, type)
    return true
  })
  const { connection } = connect(spec(server.url))
  await expect(connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    code: "output_invalid",
    message: expect.stringMatching(/^The MCP server far answered with what is no result of the protocol: /) as string,
  })
  expect(connection.state.state).toBe("connected")
})

test("an error of the protocol is told as such, whatever HTTP calls it", async () => {
  const { url } = await listen(async (request, response) => {
    const message = JSON.parse((await bodyOf(request)) || "{}") as PlainMessage
    const result = plainAnswer(message)
    if (result === undefined) return void response.writeHead(202).end()
    const error = { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Not here.", data: { a: 1 } } }
    const isCall = message.method === "tools/call"
    response.writeHead(isCall ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(isCall ? error : result))
  })
  const { connection } = connect(spec(url))
  await expect(connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    name: "ToolFailure",
    message: "The MCP server far refused the call: Not here.",
    metadata: { rpcCode: -32601, rpcMessage: "Not here.", rpcData: { a: 1 } },
  })
  expect(connection.state).toMatchObject({ state: "connected", restarts: 0 })
})

test.each([
  [401, "it refuses us with HTTP 401; look at its headers in the configuration"],
  [503, "it answers with HTTP 503"],
])("a server that answers with %i says so", async (status, why) => {
  const { url } = await listen((_, response) => void response.writeHead(status).end())
  const { connection } = connect(spec(url))
  await expect(connection.ensure()).rejects.toMatchObject({
    message: `The MCP server far is not connected: ${why}. The next call tries again.`,
  })
})

test("a server that accepts and never answers is given up", async () => {
  const { url } = await listen(() => {})
  const { connection } = connect(spec(url, { connectTimeoutMs: 100 }))
  await expect(connection.ensure()).rejects.toMatchObject({
    message: "The MCP server far did not finish its greeting within 0.1 s. The next call tries again.",
  })
})

test("an address elsewhere to which a server points is not followed", async () => {
  const elsewhere = await todaysServer()
  const { url } = await listen((_, response) => void response.writeHead(307, { location: elsewhere.url }).end())
  const { connection } = connect(spec(url, { headers: { authorization: "Bearer abc" } }))
  await expect(connection.ensure()).rejects.toMatchObject({ code: "upstream_unavailable" })
  expect(elsewhere.requests).toEqual([])
})
