import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, inputRequired, McpServer, type CallToolResult } from "@modelcontextprotocol/server"
import { onTestFinished } from "vitest"
import { z } from "zod"

/** A server on its own port, closed after the test. */
export interface TestHttpServer {
  readonly url: string
  readonly port: number
  /** The method and the headers of every request. */
  readonly requests: { method: string; headers: IncomingMessage["headers"]; body?: string }[]
  /** Destroys all open responses; the server continues. */
  dropResponses(): void
  /** Closes the server and its connections at once. */
  stop(): Promise<void>
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

export async function startHttpServer(handle: Handle, port = 0): Promise<TestHttpServer> {
  const requests: TestHttpServer["requests"] = []
  const sockets = new Set<Socket>()
  const responses = new Set<ServerResponse>()
  const server: HttpServer = createServer((request, response) => {
    requests.push({ method: request.method!, headers: request.headers })
    responses.add(response.once("close", () => responses.delete(response)))
    void handle(request, response)
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  await listen(server, port)
  const dropResponses = () => {
    for (const answer of responses) answer.destroy()
  }
  const stop = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  onTestFinished(() => stop())
  const bound = (server.address() as AddressInfo).port
  return { url: `http://127.0.0.1:${bound}/mcp`, port: bound, requests, dropResponses, stop }
}

/** Listens on a port that the system does not assign by itself, so that a closed server can return to it. */
async function listen(server: HttpServer, port: number): Promise<void> {
  for (;;) {
    const tried = port === 0 ? 20_000 + Math.floor(Math.random() * 12_000) : port
    const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once("error", resolve)
      server.listen(tried, "127.0.0.1", () => resolve(undefined))
    })
    if (problem === undefined) return
    if (port !== 0 || problem.code !== "EADDRINUSE") throw problem
  }
}

/** The SDK's handler: both eras at one address, without sessions. */
export async function bothErasServer(port?: number): Promise<TestHttpServer & { announceTools(): void }> {
  const handler = createMcpHandler(() => sdkServer())
  const handle = toNodeHandler(handler)
  const listening = await startHttpServer((request, response) => void handle(request as never, response), port)
  return { ...listening, announceTools: () => handler.notify.toolsChanged() }
}

/** A server of 2025 with sessions, each with its own stream. */
export async function sessionServer(port?: number): Promise<TestHttpServer & { sessions: Map<string, unknown> }> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  const listening = await startHttpServer(async (request, response) => {
    const id = request.headers["mcp-session-id"] as string | undefined
    let transport = id === undefined ? undefined : sessions.get(id)
    if (id !== undefined && transport === undefined) return void response.writeHead(404).end()
    if (transport === undefined) {
      const fresh = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (sessionId) => void sessions.set(sessionId, fresh),
        onsessionclosed: (closedId) => void sessions.delete(closedId),
      })
      transport = fresh
      await sdkServer().connect(fresh)
    }
    await transport.handleRequest(request, response)
  }, port)
  return { ...listening, sessions }
}

/** A server of 2024 with SSE: it sends on one stream and receives by POST. */
export async function sseServer(): Promise<TestHttpServer & { streams: Set<ServerResponse> }> {
  const streams = new Set<ServerResponse>()
  const listening = await startHttpServer(async (request, response) => {
    const { pathname } = new URL(request.url!, "http://local")
    if (request.method === "GET" && pathname === "/mcp") {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("event: endpoint\ndata: /message\n\n")
      streams.add(response)
      response.once("close", () => streams.delete(response))
      return
    }
    if (request.method !== "POST" || pathname !== "/message") return void response.writeHead(405).end()
    const message = JSON.parse(await readTestRequestBody(request)) as PlainMessage
    response.writeHead(202).end()
    const result = plainAnswer(message)
    if (result === undefined) return
    for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify(result)}\n\n`)
  })
  return { ...listening, streams }
}

export interface PlainMessage {
  id?: number | string
  method: string
  params?: { name?: string; arguments?: Record<string, unknown>; protocolVersion?: string }
}

/** The response of a plain server of 2025 with one tool, echo. */
export function plainAnswer({ id, method, params }: PlainMessage): object | undefined {
  const answer = (result: object) => ({ jsonrpc: "2.0", id, result })
  if (id === undefined) return undefined
  if (method === "initialize") {
    const { protocolVersion } = params!
    return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "plain", version: "1" } })
  }
  if (method === "tools/list") return answer({ tools: [{ name: "echo", inputSchema: { type: "object" } }] })
  if (method === "tools/call") return answer({ content: [{ type: "text", text: String(params?.arguments?.["text"]) }] })
  return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }
}

export async function readTestRequestBody(request: IncomingMessage): Promise<string> {
  let text = ""
  for await (const part of request) text += String(part)
  return text
}

function sdkServer(): McpServer {
  const server = new McpServer(
    { name: "sdk", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  )
  const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] })
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text: input }) => text(input))
  server.registerTool("slow", { inputSchema: z.object({}) }, (_, { mcpReq }) => {
    return new Promise((resolve) => mcpReq.signal.addEventListener("abort", () => resolve(text("stopped"))))
  })
  server.registerTool("progress", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return text("no token")
    for (const progress of [1, 2]) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 2 } })
    }
    return text("done")
  })
  server.registerTool("elicit", { inputSchema: z.object({}) }, (_, { mcpReq }) => {
    const input = mcpReq.inputResponses?.["who"]
    if (input !== undefined) return text(JSON.stringify(input))
    const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } }
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema }) } })
  })
  return server
}
