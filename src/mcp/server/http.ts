import type { IncomingMessage, ServerResponse } from "node:http"
import { classifyInboundRequest, isJsonContentType, type AuthInfo } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { authOf } from "./auth.ts"
import { isDeep } from "../../model/depth.ts"
import type { McpDoor, Speaker } from "./door.ts"
import { mcpFront } from "./front.ts"
import { legacyLeg } from "./legacy.ts"
import { modernLeg } from "./modern.ts"
import { Sessions } from "./sessions.ts"
import { protocolError, sendWeb, untilGone, webRequest } from "./web.ts"

/** One request at /mcp whose speaker is known. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly speaker: Speaker
  /** The body of a POST. */
  readonly text?: string | undefined
}

/** An exchange as the SDK's handlers take it. */
export interface WebExchange extends Exchange {
  readonly web: Request
  readonly auth: AuthInfo
  /** The body, parsed. */
  readonly body?: unknown
}

export interface McpHttpOptions {
  now: () => number
  sessionIdleMs?: number | undefined
  mostSessions?: number | undefined
  /** False sends every message through the SDK's handlers, to compare with. */
  front?: boolean | undefined
}

export interface McpHttp {
  handle(exchange: Exchange): void
  /** Ends idle sessions, and what was opened with a token that does not count any more. */
  sweep(): void
  sessions(): number
  close(): Promise<void>
}

/** Both eras at one address: requests that carry their own envelope, and sessions. */
export function mcpOverHttp(app: App, door: McpDoor, options: McpHttpOptions): McpHttp {
  const { now, sessionIdleMs: idleMs, mostSessions: most } = options
  const server = (speaker: Speaker, id: string) => door.server(speaker, { era: "legacy", session: { id } })
  const sessions = new Sessions({ server, now, idleMs, most })
  const legacy = legacyLeg(sessions)
  const modern = modernLeg(app, door)
  const front = options.front === false ? undefined : mcpFront(app, door, sessions, modern)
  const open = new Set<Exchange>()

  return {
    handle(exchange) {
      const { method } = exchange.request
      if (method === "POST") return post(exchange)
      if (method === "GET" || method === "DELETE") return bySdk(exchange, undefined, legacy.operate)
      protocolError(exchange.response, 405, -32_000, "Method not allowed.", { allow: "GET, POST, DELETE" })
    },
    sweep() {
      if (sessions.size === 0 && open.size === 0) return
      const live = new Set(app.tokens.list().map(({ id }) => id))
      const counts = ({ tokenId }: Speaker) => tokenId === undefined || live.has(tokenId)
      for (const { speaker, response } of open) if (!counts(speaker)) response.destroy()
      sessions.sweep(counts)
    },
    sessions: () => sessions.size,
    async close() {
      sessions.endAll()
      await modern.close()
    },
  }

  function post(exchange: Exchange): void {
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
    if (isDeep(text)) {
      return protocolError(response, 400, -32_600, "Invalid Request: The message is nested too deeply.")
    }
    const answered = front?.(exchange, body)
    if (answered === undefined) return decide(exchange, body)
    open.add(exchange)
    answered.then(
      (isAnswered) => {
        open.delete(exchange)
        if (!isAnswered) decide(exchange, body)
      },
      () => {
        open.delete(exchange)
        failed(response)
      },
    )
  }

  function decide(exchange: Exchange, body: unknown): void {
    const { headers } = exchange.request
    const { kind } = classifyInboundRequest({
      httpMethod: "POST",
      ...given("protocolVersionHeader", headers["mcp-protocol-version"]),
      ...given("mcpMethodHeader", headers["mcp-method"]),
      ...given("mcpNameHeader", headers["mcp-name"]),
      body,
    })
    bySdk(exchange, body, kind === "legacy" ? legacy.post : modern.post)
  }

  /** Answers with what a handler of the SDK makes of it; ends that when the client goes away, or its token does. */
  function bySdk(exchange: Exchange, body: unknown, handle: (exchange: WebExchange) => Promise<Response>): void {
    const { request, response, speaker } = exchange
    open.add(exchange)
    response.once("close", () => open.delete(exchange))
    const web = webRequest(request, untilGone(response))
    handle({ ...exchange, web, body, auth: authOf(speaker) })
      .then((answered) => sendWeb(answered, response))
      .catch(() => failed(response))
  }
}

function given<Name extends string>(name: Name, value: string | string[] | undefined) {
  return (value === undefined ? {} : { [name]: String(value) }) as { [Key in Name]?: string }
}

function failed(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy()
  protocolError(response, 500, -32_603, "Internal server error")
}
