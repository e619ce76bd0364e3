import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { mcpDoor } from "../mcp/server/door.ts"
import { mcpOverHttp, type McpHttp } from "../mcp/server/http.ts"
import { httpAddress } from "../model/address.ts"
import type { App } from "../model/app.ts"
import { showToken } from "./bearer.ts"
import { readBody } from "./body.ts"
import { guard } from "./guard.ts"
import { refuse, replyJson } from "./reply.ts"

/** Where and how the house is reached over HTTP. */
export interface ServeOptions {
  /** Loopback when left out. */
  host?: string | undefined
  /** 0 takes any that is free; 7420 when left out. */
  port?: number | undefined
  /** Host names beside the loopback ones, without ports. */
  allowedHosts?: readonly string[] | undefined
  /** Host names of pages in browsers that may call, beside the loopback ones. */
  allowedOrigins?: readonly string[] | undefined
  /** 4 MiB when left out. */
  maxBodyBytes?: number | undefined
  /** What callers are told our version is. */
  version: string
  /** How long a call may wait for a person before its caller gets a ticket. */
  waitMs?: number | undefined
  now?: (() => number) | undefined
  limits?: Partial<ServeLimits> | undefined
  /** False sends every message through the SDK's handlers, to compare with. */
  front?: boolean | undefined
}

/** How long and how much a client may keep us busy. */
export interface ServeLimits {
  /** Milliseconds for the headers of a request, and for the whole of it. */
  headersMs: number
  requestMs: number
  connections: number
  sessions: number
  sessionIdleMs: number
  /** How often slow requests, idle sessions and revoked tokens are looked for. */
  lookMs: number
}

export interface ServedHttp {
  readonly url: string
  readonly port: number
  /** How many clients of the era with sessions there are. */
  sessions(): number
  /** Ends streams and sessions, then stops listening. The house stays open. */
  close(): Promise<void>
}

const usual: ServeLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 4096,
  sessions: 1000,
  sessionIdleMs: 15 * 60_000,
  lookMs: 1000,
}

/** Listens, and answers until it is closed. */
export async function serveHttp(app: App, options: ServeOptions): Promise<ServedHttp> {
  const { host = "127.0.0.1", port = 7420, version, now = Date.now, front } = options
  const limits = { ...usual, ...options.limits }
  const door = mcpDoor(app, { version, waitMs: options.waitMs })
  const mcp = mcpOverHttp(app, door, {
    now,
    front,
    sessionIdleMs: limits.sessionIdleMs,
    mostSessions: limits.sessions,
  })
  const server = listener(limits, answerer(app, mcp, host, options))
  const looking = setInterval(() => mcp.sweep(), limits.lookMs).unref()
  try {
    await listen(server, host, port)
  } catch (error) {
    clearInterval(looking)
    await door.close()
    throw cannotListen(error, host, port)
  }
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    url: httpAddress(host, taken),
    sessions: () => mcp.sessions(),
    async close() {
      clearInterval(looking)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await mcp.close()
      await door.close()
      server.closeIdleConnections()
      // What still runs has a moment to be answered.
      const late = setTimeout(() => server.closeAllConnections(), 2000)
      await closed
      clearTimeout(late)
    },
  }
}

function listener(limits: ServeLimits, answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: limits.lookMs,
      noDelay: true,
    },
    answer,
  )
  server.maxConnections = limits.connections
  return server
}

function answerer(app: App, mcp: McpHttp, host: string, options: ServeOptions) {
  const { allowedHosts, allowedOrigins, maxBodyBytes = 4 * 1024 * 1024 } = options
  const refusal = guard({ host, allowedHosts, allowedOrigins })
  return (request: IncomingMessage, response: ServerResponse): void => {
    const forbidden = refusal(request.headers)
    if (forbidden !== undefined) return refuse(response, 403, forbidden)
    const path = pathOf(request.url ?? "/")
    if (path === "/mcp") return atMcp(app, mcp, maxBodyBytes, request, response)
    if (path === "/healthz") return atHealth(app, request, response)
    refuse(response, 404, "There is nothing here. MCP is at /mcp, the state of the server at /healthz.")
  }
}

function atMcp(app: App, mcp: McpHttp, mostBytes: number, request: IncomingMessage, response: ServerResponse): void {
  const shown = showToken(app, request.headers.authorization)
  if (shown.holder === undefined) {
    return refuse(response, 401, shown.sentence, { "www-authenticate": shown.challenge })
  }
  const { agentId, id: tokenId, person } = shown.holder
  const speaker = { agentId, tokenId, person }
  if (request.method !== "POST") return mcp.handle({ request, response, speaker })
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined && encoding !== "identity") {
    return refuse(response, 415, `The body is encoded as '${encoding.slice(0, 50)}'. Send it as it is.`)
  }
  readBody(request, mostBytes, (text) => {
    if (text !== undefined) return mcp.handle({ request, response, speaker, text })
    const sentence = `The body is longer than ${mostBytes} bytes. Send less, or raise server.maxBodyBytes.`
    refuse(response, 413, sentence, { connection: "close" })
    request.resume()
  })
}

function atHealth(app: App, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return refuse(response, 405, "Only GET is answered here.", { allow: "GET, HEAD" })
  }
  app.health().then(
    (problem) => (problem === undefined ? replyJson(response, 200, { status: "ok" }) : refuse(response, 503, problem)),
    () => refuse(response, 503, "The state of the store could not be found out."),
  )
}

function pathOf(url: string): string {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.off("error", reject)
      resolve()
    })
  })
}

function cannotListen(error: unknown, host: string, port: number): Error {
  const code = (error as NodeJS.ErrnoException).code
  const why =
    code === "EADDRINUSE"
      ? "Another program has it. Choose another with --port or server.port."
      : code === "EACCES"
        ? "This user may not use it. Choose a port above 1023 with --port or server.port."
        : String((error as Error).message)
  return new Error(`Port ${port} of ${host} cannot be listened on. ${why}`, { cause: error })
}
