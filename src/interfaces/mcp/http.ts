import type { ServerResponse } from "node:http"
import { classifyInboundRequest, isJsonContentType } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { toAuthInfo } from "./auth.ts"
import { abortOnDisconnect } from "../../lib/http-reply.ts"
import { isJsonTooDeep } from "../../lib/json-depth.ts"
import type { ClientIdentity } from "./client-identity.ts"
import type { McpEndpoint } from "./endpoint.ts"
import { mcpFastPath } from "./fast-path.ts"
import type { McpHttpExchange, SdkExchange } from "./http-exchange.ts"
import { legacyHandler } from "./legacy-handler.ts"
import { modernHandler } from "./modern-handler.ts"
import { ClientSessions } from "./client-sessions.ts"
import { parameterHeaderProblem } from "./parameter-headers.ts"
import { modernRevision } from "./posted-message.ts"
import { toolList } from "./tool-list.ts"
import { protocolError, sendWebResponse, webRequest } from "./web-adapter.ts"

const headerMismatchCode = -32_020

export interface McpHttpOptions {
  now: () => number
  sessionIdleMs?: number
  maxSessions?: number
}

export interface McpHttp {
  handle(exchange: McpHttpExchange): void
  /** Ends idle sessions, and requests and sessions whose token is no longer valid. */
  sweep(): void
  sessions(): number
  close(): Promise<void>
}

/**
 * Serves both eras at one address: requests with their own envelope, and sessions. Tests pass a `makeFastPath` that
 * answers nothing, to compare the fast path with the SDK's handlers.
 */
export function mcpOverHttp(
  app: Quartermaster,
  endpoint: McpEndpoint,
  options: McpHttpOptions,
  makeFastPath = mcpFastPath,
): McpHttp {
  const { now, sessionIdleMs: idleMs, maxSessions: max } = options
  const server = (identity: ClientIdentity, id: string) => endpoint.server(identity, { era: "legacy", session: { id } })
  const onEnd = (id: string) => void app.endSession(id).catch(() => {})
  const sessions = new ClientSessions({ server, onEnd, now, idleMs, max })
  const legacy = legacyHandler(sessions)
  const modern = modernHandler(app, endpoint)
  const fastPath = makeFastPath(app, endpoint, sessions, modern)
  const openExchanges = new Set<McpHttpExchange>()

  return {
    handle(exchange) {
      const { method } = exchange.request
      if (method === "POST") return post(exchange)
      if (method === "GET" || method === "DELETE") return handleWithSdk(exchange, undefined, legacy.operate)
      protocolError(exchange.response, 405, -32_000, "Method not allowed.", { allow: "GET, POST, DELETE" })
    },
    sweep() {
      if (sessions.size === 0 && openExchanges.size === 0) return
      const live = new Set(app.tokens.list().map(({ id }) => id))
      const isValid = ({ tokenId }: ClientIdentity) => tokenId === undefined || live.has(tokenId)
      for (const { identity, response } of openExchanges) if (!isValid(identity)) response.destroy()
      sessions.sweep(isValid)
    },
    sessions: () => sessions.size,
    async close() {
      sessions.endAll()
      await modern.close()
    },
  }

  function post(exchange: McpHttpExchange): void {
    const { request, response, text = "" } = exchange
    const type = request.headers["content-type"]
    if (type !== "application/json" && !isJsonContentType(type ?? null)) {
      return protocolError(response, 415, -32_000, "Unsupported Media Type: Content-Type must be application/json")
    }
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {
      return protocolError(response, 400, -32_700, "Parse error: Invalid JSON")
    }
    if (isJsonTooDeep(text)) {
      return protocolError(response, 400, -32_600, "Invalid Request: The message is nested too deeply.")
    }
    const mismatch = headerMismatch(exchange, body)
    if (mismatch !== undefined) {
      const message = `Bad Request: the request headers and body disagree: ${mismatch}`
      return protocolError(response, 400, headerMismatchCode, message, {}, (body as { id?: unknown }).id)
    }
    const answered = fastPath(exchange, body)
    if (answered === undefined) return dispatchToSdk(exchange, body)
    openExchanges.add(exchange)
    answered.then(
      (isAnswered) => {
        openExchanges.delete(exchange)
        if (!isAnswered) dispatchToSdk(exchange, body)
      },
      () => {
        openExchanges.delete(exchange)
        replyFailed(response)
      },
    )
  }

  /** Only requests of 2026 have such headers. */
  function headerMismatch({ request: { headers }, identity }: McpHttpExchange, body: unknown): string | undefined {
    if (headers["mcp-protocol-version"] !== modernRevision) return undefined
    const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown; arguments?: unknown } }
    const name = params?.name
    if (method !== "tools/call" || typeof name !== "string") return undefined
    return parameterHeaderProblem(toolList(app, identity.agentId).headerSchemas.get(name), params?.arguments, headers)
  }

  function dispatchToSdk(exchange: McpHttpExchange, body: unknown): void {
    const { headers } = exchange.request
    const { kind } = classifyInboundRequest({
      httpMethod: "POST",
      ...ifPresent("protocolVersionHeader", headers["mcp-protocol-version"]),
      ...ifPresent("mcpMethodHeader", headers["mcp-method"]),
      ...ifPresent("mcpNameHeader", headers["mcp-name"]),
      body,
    })
    handleWithSdk(exchange, body, kind === "legacy" ? legacy.post : modern.post)
  }

  /** Lets a handler of the SDK answer. The request is aborted when the client disconnects or its token is revoked. */
  function handleWithSdk(
    exchange: McpHttpExchange,
    body: unknown,
    handle: (exchange: SdkExchange) => Promise<Response>,
  ): void {
    const { request, response, identity } = exchange
    openExchanges.add(exchange)
    response.once("close", () => openExchanges.delete(exchange))
    const web = webRequest(request, abortOnDisconnect(response))
    handle({ ...exchange, web, body, auth: toAuthInfo(identity) })
      .then((answered) => sendWebResponse(answered, response))
      .catch(() => replyFailed(response))
  }
}

function ifPresent<Name extends string>(name: Name, value: string | string[] | undefined) {
  return (value === undefined ? {} : { [name]: String(value) }) as { [Key in Name]?: string }
}

function replyFailed(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy()
  protocolError(response, 500, -32_603, "Internal server error")
}
