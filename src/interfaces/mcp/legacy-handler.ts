import { isInitializeRequest, isJSONRPCRequest } from "@modelcontextprotocol/server"
import type { SdkExchange } from "./http-exchange.ts"
import type { ClientSession, ClientSessions } from "./client-sessions.ts"
import { errorResponse } from "./web-adapter.ts"

/** The revisions in which a client may send several messages as one array. */
const revisionsWithBatches = new Set(["2025-03-26", "2024-11-05", "2024-10-07"])

/** Serves clients that begin with `initialize` and get a session id. */
export function legacyHandler(sessions: ClientSessions) {
  return { post, operate }

  async function post(exchange: SdkExchange): Promise<Response> {
    const { request, response, identity, web, auth, body } = exchange
    const id = request.headers["mcp-session-id"]
    if (id === undefined) return isInitializeRequest(body) ? begin(exchange) : noSessionId()
    const session = sessions.find(String(id), identity)
    if (session === undefined) return notFound()
    if (Array.isArray(body) && !revisionsWithBatches.has(session.server.getNegotiatedProtocolVersion() ?? "")) {
      const revision = session.server.getNegotiatedProtocolVersion()
      return errorResponse(400, -32_600, `Invalid Request: Revision ${revision} of the protocol has no batches.`)
    }
    const release = sessions.use(session)
    response.once("close", () => {
      release()
      if (!response.writableFinished) cancel(session, body)
    })
    return session.transport.handleRequest(web, { authInfo: auth, parsedBody: body })
  }

  async function begin({ identity, web, auth, body }: SdkExchange): Promise<Response> {
    const session = await sessions.begin(identity)
    if (session === undefined) {
      const sentence = "There are too many sessions, and none of them is idle. Try again in a minute."
      return errorResponse(503, -32_000, sentence, { "retry-after": "60" })
    }
    const answered = await session.transport.handleRequest(web, { authInfo: auth, parsedBody: body })
    if (session.transport.sessionId === undefined) sessions.end(session)
    return answered
  }

  /** GET listens, DELETE ends the session. */
  async function operate({ request, response, identity, web, auth }: SdkExchange): Promise<Response> {
    const id = request.headers["mcp-session-id"]
    if (id === undefined) return noSessionId()
    const session = sessions.find(String(id), identity)
    if (session === undefined) return notFound()
    const answered = await session.transport.handleRequest(web, { authInfo: auth })
    if (request.method === "GET" && answered.status === 200) response.once("close", sessions.listen(session))
    return answered
  }
}

/** Cancels the requests of a client that disconnected: it has no way to get their responses later. */
function cancel({ transport }: ClientSession, body: unknown): void {
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
