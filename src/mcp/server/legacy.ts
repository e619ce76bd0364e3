import { isInitializeRequest, isJSONRPCRequest } from "@modelcontextprotocol/server"
import type { WebExchange } from "./http.ts"
import type { Session, Sessions } from "./sessions.ts"
import { errorResponse } from "./web.ts"

/** The revisions in which several messages may come as one array. */
const withBatches = new Set(["2025-03-26", "2024-11-05", "2024-10-07"])

/** Serves clients that begin with `initialize` and are told a session id. */
export function legacyLeg(sessions: Sessions) {
  return { post, operate }

  async function post(exchange: WebExchange): Promise<Response> {
    const { request, response, speaker, web, auth, body } = exchange
    const id = request.headers["mcp-session-id"]
    if (id === undefined) return isInitializeRequest(body) ? begin(exchange) : noSessionId()
    const session = sessions.find(String(id), speaker)
    if (session === undefined) return notFound()
    if (Array.isArray(body) && !withBatches.has(session.server.getNegotiatedProtocolVersion() ?? "")) {
      const revision = session.server.getNegotiatedProtocolVersion()
      return errorResponse(400, -32_600, `Invalid Request: Revision ${revision} of the protocol has no batches.`)
    }
    const used = sessions.use(session)
    response.once("close", () => {
      used()
      if (!response.writableFinished) cancel(session, body)
    })
    return session.transport.handleRequest(web, { authInfo: auth, parsedBody: body })
  }

  async function begin({ speaker, web, auth, body }: WebExchange): Promise<Response> {
    const session = await sessions.begin(speaker)
    if (session === undefined) {
      const sentence = "There are too many sessions, and none of them is idle. Try again in a minute."
      return errorResponse(503, -32_000, sentence, { "retry-after": "60" })
    }
    const answered = await session.transport.handleRequest(web, { authInfo: auth, parsedBody: body })
    if (session.transport.sessionId === undefined) sessions.end(session)
    return answered
  }

  /** GET listens, DELETE ends the session. */
  async function operate({ request, response, speaker, web, auth }: WebExchange): Promise<Response> {
    const id = request.headers["mcp-session-id"]
    if (id === undefined) return noSessionId()
    const session = sessions.find(String(id), speaker)
    if (session === undefined) return notFound()
    const answered = await session.transport.handleRequest(web, { authInfo: auth })
    if (request.method === "GET" && answered.status === 200) response.once("close", sessions.listen(session))
    return answered
  }
}

/** The client is gone, and without a way to come back for the answer: what it asked for is called off. */
function cancel({ transport }: Session, body: unknown): void {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isJSONRPCRequest(message)) continue
    const params = { requestId: message.id, reason: "The client disconnected." }
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params })
  }
}

function noSessionId(): Response {
  return errorResponse(400, -32_000, "Bad Request: Mcp-Session-Id header is required")
}

function notFound(): Response {
  return errorResponse(404, -32_001, "Session not found")
}
