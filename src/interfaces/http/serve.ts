import { setMaxListeners } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { mcpEndpoint, type McpEndpointOptions } from "../mcp/endpoint.ts"
import { mcpOverHttp, type McpHttp } from "../mcp/http.ts"
import { httpOrigin, isLoopback } from "../../lib/url.ts"
import { getRequestListener } from "@hono/node-server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { createApi } from "./routes/api.ts"
import type { Api } from "./routes/endpoint.ts"
import { consoleFolder, openConsole, type ConsolePages } from "./transport/console-files.ts"
import { directCalls } from "./transport/direct-call.ts"
import { checkBearerToken } from "./transport/bearer-token.ts"
import { answerPages } from "./pages/answer-pages.ts"
import { readRequestBody } from "./transport/read-request-body.ts"
import { hostCheck } from "./transport/host-check.ts"
import { openRequests } from "./transport/open-requests.ts"
import { replyProblem, replyJson, replyText } from "./transport/reply.ts"

/** How the app is served over HTTP. */
export interface ServeOptions {
  /** Loopback when left out. */
  host?: string | undefined
  /** 0 takes any free port; 7420 when left out. */
  port?: number | undefined
  /** The address that people open: an origin. Needed where other machines can reach `host`. */
  publicUrl?: string | undefined
  /** Host names that requests may use besides the loopback ones, without ports. */
  allowedHosts?: readonly string[] | undefined
  /** Host names of the web pages that may call, besides the server's own. */
  allowedOrigins?: readonly string[] | undefined
  /** 4 MiB when left out. */
  maxBodyBytes?: number | undefined
  /** Our version, as reported to clients. */
  version: string
  /** The folder the tools work in, as it is shown to people. */
  workspace?: string | undefined
  /** Whether the organisation is the sample of the first start. */
  isSample?: (() => boolean) | undefined
  /** How long a call may wait for a person before its caller gets a ticket. */
  waitMs?: number | undefined
  /** What the person at an MCP client may answer there, and how many milliseconds a person needs at least. */
  inClient?: McpEndpointOptions["inClient"]
  fastestAnswerMs?: number | undefined
  now?: (() => number) | undefined
  limits?: Partial<ServeLimits> | undefined
}

/** Limits on time, connections and sessions. */
export interface ServeLimits {
  /** Milliseconds for the headers of a request, and for the whole of it. */
  headersMs: number
  requestMs: number
  connections: number
  /** How many requests of one token or session may be open at once, streams and those that wait for a person too. */
  requestsPerToken: number
  sessions: number
  sessionIdleMs: number
  /** How often the server looks for slow requests, idle sessions and revoked tokens. */
  sweepMs: number
}

export interface ServedHttp {
  /** Where it listens. */
  readonly url: string
  /** What people open: the public URL where there is one. */
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
    now,
    closing: closer.signal,
  }
  const folder = consoleFolder()
  const pages = folder === undefined ? undefined : await openConsole(folder)
  const server = createHttpServer(limits, requestHandler({ app, mcp, api, pages, host, limits }, options))
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
  host: string
  limits: ServeLimits
}

function requestHandler({ app, mcp, api, pages, host, limits }: Served, options: ServeOptions) {
  const { publicUrl, allowedHosts, allowedOrigins, maxBodyBytes = 4 * 1024 * 1024 } = options
  const { fetch } = createApi(api, { maxBodyBytes })
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false })
  const calls = directCalls(api, maxBodyBytes)
  const answers = answerPages(api)
  const countOpen = openRequests(limits.requestsPerToken)
  const refusal = hostCheck({ host, publicUrl, allowedHosts, allowedOrigins })
  return (request: IncomingMessage, response: ServerResponse): void => {
    const forbidden = refusal(request.headers)
    if (forbidden !== undefined) return replyProblem(response, 403, forbidden)
    const path = pathOf(request.url ?? "/")
    if (!countOpen(request, response)) return replyProblem(response, 429, tooManyOpen, { "retry-after": "5" })
    if (path === "/mcp") return handleMcp(app, mcp, maxBodyBytes, request, response)
    if (path === "/healthz" || path === "/readyz") return handleHealth(app, request, response)
    if (calls(path, request, response) || answers(path, request, response)) return
    if (/^\/(v1\/|openapi\.json$|metrics$)/.test(path)) return void listener(request, response)
    if (isRead(request) && pages?.(path, response, wantsPage(request)) === true) return
    if (isRead(request) && path === "/") return replyText(response, 200, whatIsHere(api, pages !== undefined))
    replyProblem(response, 404, nothingHere)
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD"
}

function wantsPage({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/html") === true
}

/** For whoever asks the bare address with a program and not with a browser. */
function whatIsHere({ baseUrl, version }: Api, hasConsole: boolean): string {
  const url = baseUrl()
  const lines = [
    `Quartermaster ${version}`,
    "",
    ...(hasConsole ? [`console  ${url}/ in a browser; 'qm open' prints a link that signs in`] : []),
    `API      ${url}/v1, described in ${url}/openapi.json`,
    `MCP      ${url}/mcp`,
    `state    ${url}/healthz`,
  ]
  return `${lines.join("\n")}\n`
}

const tooManyOpen =
  "This token or session has too many open requests. End event streams and waiting requests that are not needed, then try again."

const nothingHere =
  "There is nothing here. The console is at /, the API at /v1 (see /openapi.json), MCP at /mcp, the state of the server at /healthz."

function handleMcp(
  app: Quartermaster,
  mcp: McpHttp,
  maxBytes: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const check = checkBearerToken(app, request.headers.authorization)
  if (check.holder === undefined) {
    return replyProblem(response, 401, check.sentence, { "www-authenticate": check.challenge })
  }
  const { agentId, id: tokenId, person } = check.holder
  const identity = { agentId, tokenId, person }
  if (request.method !== "POST") return mcp.handle({ request, response, identity })
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined && encoding !== "identity") {
    return replyProblem(
      response,
      415,
      `The body is encoded as '${encoding.slice(0, 50)}'. Send it without a content encoding.`,
    )
  }
  readRequestBody(request, maxBytes, (text) => {
    if (text !== undefined) return mcp.handle({ request, response, identity, text })
    const sentence = `The body is longer than ${maxBytes} bytes. Send less, or raise server.maxBodyBytes.`
    replyProblem(response, 413, sentence, { connection: "close" })
    request.resume()
  })
}

function handleHealth(app: Quartermaster, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return replyProblem(response, 405, "Only GET is answered here.", { allow: "GET, HEAD" })
  }
  app.health().then(
    (problem) =>
      problem === undefined ? replyJson(response, 200, { status: "ok" }) : replyProblem(response, 503, problem),
    () => replyProblem(response, 503, "The state of the store could not be determined."),
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
