import { setMaxListeners } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { mcpEndpoint, type McpEndpointOptions } from "../mcp/endpoint.ts"
import type { McpHttpExchange } from "../mcp/http-exchange.ts"
import { mcpOverHttp, type McpHttp } from "../mcp/http.ts"
import { sendReply, type HttpReply } from "../../lib/http-reply.ts"
import { httpOrigin, isLoopback } from "../../lib/url.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { Api } from "./routes/endpoint.ts"
import { consoleFolder, openConsole, type ConsolePages } from "./transport/console-files.ts"
import { createApi } from "./transport/api.ts"
import { answerPages } from "./pages/answer-pages.ts"
import { serveLocalMcp, type LocalMcp } from "./transport/local-mcp.ts"
import { readBody } from "./transport/read-body.ts"
import { hostCheck } from "./transport/host-check.ts"
import { openRequests } from "./transport/open-requests.ts"
import { bearerToken, unknownToken } from "./routes/caller.ts"
import { HttpProblem } from "./routes/problem.ts"
import { problemReply } from "./routes/answer.ts"

/** The options of the HTTP server. */
export interface ServeOptions {
  /** Loopback when left out. */
  host?: string
  /** 0 takes any free port; 7420 when left out. */
  port?: number
  /** The address that people open: an origin. Needed where other machines can reach `host`. */
  publicUrl?: string
  /** Host names that requests may use besides the loopback ones, without ports. */
  allowedHosts?: readonly string[]
  /** Host names of the web pages that may call, besides the server's own. */
  allowedOrigins?: readonly string[]
  /** 4 MiB when left out. */
  maxBodyBytes?: number
  /** Our version, as reported to clients. */
  version: string
  /** The folder the tools work in, as it is shown to people. */
  workspace?: string
  /** True while the organisation is the sample of the first start. */
  isSample?: () => boolean
  /** After this time a call that waits for a person answers its caller with a ticket. */
  waitMs?: number
  /** The items that the person at an MCP client may answer there, and the least milliseconds a person needs. */
  inClient?: McpEndpointOptions["inClient"]
  fastestAnswerMs?: number
  /** The key with which programs of this machine's user ask for their hooks. */
  localKey?: string
  /** Serves the MCP clients whose `qm mcp` finds this server. */
  localMcp?: LocalMcp
  /** `hooks.askInClient` of the configuration. */
  askInClient?: boolean
  now?: () => number
  limits?: Partial<ServeLimits>
}

/** Limits on time, connections and sessions. */
export interface ServeLimits {
  /** Milliseconds for the headers of a request, and for the whole of it. */
  headersMs: number
  requestMs: number
  connections: number
  /** The most open requests of one token or session, with streams and those that wait for a person. */
  requestsPerToken: number
  sessions: number
  sessionIdleMs: number
  /** The server looks for slow requests, idle sessions and revoked tokens this often. */
  sweepMs: number
}

export interface ServedHttp {
  /** The address it listens on. */
  readonly url: string
  /** The address that people open: the public URL where there is one. */
  readonly publicUrl: string
  readonly port: number
  /** The number of open client sessions (protocol revisions before 2026). */
  sessions(): number
  /**
   * Stops listening and ends streams and sessions. `endCalls` closes the app: callers still get how their calls ended, or
   * a ticket for what waits. Without it the app stays open.
   */
  close(endCalls?: () => Promise<void>): Promise<void>
}

const defaultLimits: ServeLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 4096,
  requestsPerToken: 512,
  sessions: 1000,
  sessionIdleMs: 15 * 60_000,
  sweepMs: 1000,
}

/** Serves MCP at /mcp, the API at /v1, the console at / and the health check at /healthz until `close` is called. */
export async function serveHttp(app: Quartermaster, options: ServeOptions, makeMcp = mcpOverHttp): Promise<ServedHttp> {
  const { host = "127.0.0.1", port = 7420, version, now = Date.now } = options
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin
  if (publicUrl === undefined && !isLoopback(host)) throw new Error(needsPublicUrl(host))
  const limits = { ...defaultLimits, ...options.limits }
  const { waitMs, inClient, fastestAnswerMs } = options
  const endpoint = mcpEndpoint(app, { version, waitMs, inClient, fastestAnswerMs })
  const mcp = makeMcp(app, endpoint, {
    now,
    sessionIdleMs: limits.sessionIdleMs,
    maxSessions: limits.sessions,
  })
  const closer = new AbortController()
  let listening = httpOrigin(host, port)
  // Every event stream listens.
  setMaxListeners(0, closer.signal)
  const api: Api = {
    app,
    version,
    workspace: options.workspace ?? "",
    isSample: options.isSample ?? (() => false),
    baseUrl: () => publicUrl ?? listening,
    localKey: options.localKey,
    askInClient: options.askInClient,
    now,
    closing: closer.signal,
  }
  const folder = consoleFolder()
  const pages = folder === undefined ? undefined : await openConsole(folder)
  const { allowedHosts, allowedOrigins, localKey, localMcp } = options
  const refusal = hostCheck({ host, publicUrl: options.publicUrl, allowedHosts, allowedOrigins })
  const server = createHttpServer(limits, requestHandler({ app, mcp, api, pages, refusal, limits }, options))
  const endLocalMcp = serveLocalMcp(server, { localKey, localMcp, refusal })
  const sweeper = setInterval(() => mcp.sweep(), limits.sweepMs).unref()
  try {
    await listen(server, host, port)
  } catch (error) {
    clearInterval(sweeper)
    await endpoint.close()
    throw cannotListen(error, host, port)
  }
  const { port: actualPort } = server.address() as AddressInfo
  listening = httpOrigin(host, actualPort)
  return {
    port: actualPort,
    url: listening,
    publicUrl: api.baseUrl(),
    sessions: () => mcp.sessions(),
    async close(endCalls) {
      clearInterval(sweeper)
      closer.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await endCalls?.()
      await endLocalMcp()
      await mcp.close()
      await endpoint.close()
      server.closeIdleConnections()
      // Requests that still run get two seconds to finish.
      const forceClose = setTimeout(() => server.closeAllConnections(), 2000)
      await closed
      clearTimeout(forceClose)
    },
  }
}

function createHttpServer(
  limits: ServeLimits,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      // Longer than `keep-alive` in the answers says.
      keepAliveTimeout: 90_000,
      connectionsCheckingInterval: limits.sweepMs,
      noDelay: true,
    },
    onRequest,
  )
  server.maxConnections = limits.connections
  return server
}

interface Served {
  app: Quartermaster
  mcp: McpHttp
  api: Api
  /** The console, where it is built. */
  pages: ConsolePages | undefined
  refusal: ReturnType<typeof hostCheck>
  limits: ServeLimits
}

function requestHandler({ app, mcp, api, pages, refusal, limits }: Served, options: ServeOptions) {
  const { maxBodyBytes = 4 * 1024 * 1024 } = options
  const answerApi = createApi(api, maxBodyBytes)
  const answerPage = answerPages(api, maxBodyBytes)
  const countOpen = openRequests(limits.requestsPerToken)
  return (request: IncomingMessage, response: ServerResponse): void => {
    const refuse = (problem: unknown) => void sendReply(response, problemReply(problem))
    const forbidden = refusal(request.headers)
    if (forbidden !== undefined) return refuse(new HttpProblem(403, forbidden))
    if (!countOpen(request, response)) return refuse(tooManyOpen())
    const path = pathOf(request.url ?? "/")
    if (path === "/mcp") return void handleMcp(app, mcp, maxBodyBytes, request, response).catch(refuse)
    if (answerApi(path, request, response) || answerPage(path, request, response)) return
    if (isRead(request) && pages?.(path, response, wantsPage(request)) === true) return
    if (isRead(request) && path === "/") return void sendReply(response, addressesReply(api, pages !== undefined))
    refuse(new HttpProblem(404, nothingHere, { code: "no_such_path" }))
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD"
}

function wantsPage({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/html") === true
}

/** The reply to a program, not a browser, that asks for the bare address. */
function addressesReply({ baseUrl, version }: Api, hasConsole: boolean): HttpReply {
  const url = baseUrl()
  const lines = [
    `Quartermaster ${version}`,
    "",
    ...(hasConsole ? [`console  ${url}/ in a browser; 'qm open' prints a link that signs in`] : []),
    `API      ${url}/v1, described in ${url}/openapi.json`,
    `MCP      ${url}/mcp`,
    `state    ${url}/healthz`,
  ]
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  }
  return { status: 200, headers, body: `${lines.join("\n")}\n` }
}

function tooManyOpen(): HttpProblem {
  const sentence =
    "This token or session has too many open requests. End event streams and waiting requests that are not needed, then try again."
  return new HttpProblem(429, sentence, { code: "too_many_open" }, { "retry-after": "5" })
}

const nothingHere =
  "There is nothing here. The console is at /, the API at /v1 (see /openapi.json), MCP at /mcp, the state of the server at /healthz."

async function handleMcp(
  app: Quartermaster,
  mcp: McpHttp,
  maxBodyBytes: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const identity = identityOf(app, request.headers.authorization)
  if (request.method !== "POST") return mcp.handle({ request, response, identity })
  const text = (await readBody(request, maxBodyBytes)).toString("utf8")
  mcp.handle({ request, response, identity, text })
}

/** Finds the agent that has this token. A token is valid only for the agent it was created for. */
function identityOf({ tokens }: Quartermaster, authorization: string | undefined): McpHttpExchange["identity"] {
  const token = bearerToken(authorization)
  const holder = token === undefined ? undefined : tokens.holder(token)
  if (holder !== undefined) return { agentId: holder.agentId, tokenId: holder.id, person: holder.person }
  const { sentence, challenge } = token === undefined ? missingToken : unknownToken
  throw new HttpProblem(401, sentence, { code: "not_signed_in" }, { "www-authenticate": challenge })
}

const missingToken = {
  sentence: "Send 'Authorization: Bearer <token>'. Create a token with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster"',
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

function needsPublicUrl(host: string): string {
  return `Other machines could reach ${host}, but the address that people open is not stated. Put a proxy with TLS in front of this server and write 'server: { publicUrl: https://tools.example }' with its address into the configuration, or listen on this machine only: --host 127.0.0.1.`
}

function cannotListen(error: unknown, host: string, port: number): Error {
  const code = (error as NodeJS.ErrnoException).code
  const why =
    code === "EADDRINUSE"
      ? `Another program has it. Choose another: qm serve --port ${port + 1}, or npm start -- --port ${port + 1}, or server.port in the configuration.`
      : code === "EACCES"
        ? "This user may not use it. Choose a port above 1023 with --port or server.port."
        : String((error as Error).message)
  return new Error(`Port ${port} of ${host} cannot be listened on. ${why}`, { cause: error })
}
