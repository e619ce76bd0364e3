import type { ServerResponse } from "node:http"
import { onDisconnect } from "../../lib/http-reply.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { readPostedMessage, type PostedMessage } from "./posted-message.ts"
import { readCapabilities } from "./capabilities.ts"
import type { McpEndpoint } from "./endpoint.ts"
import { traceIdIn } from "./serve-call.ts"
import { encoder } from "./encode-response.ts"
import type { McpHttpExchange } from "./http-exchange.ts"
import type { ModernHandler } from "./modern-handler.ts"
import type { ClientSession, ClientSessions } from "./client-sessions.ts"
import { sendWebResponse } from "./web-adapter.ts"

/** Answers a message, or returns undefined or false: then the SDK's handlers must answer it. */
export type FastPath = (exchange: McpHttpExchange, body: unknown) => Promise<boolean> | undefined

/**
 * Answers the most frequent messages without the SDK: a single tools/list, or a tools/call that does not have to wait.
 * The response is exactly the one of the SDK's handlers. When a call turns out to wait, the SDK's handlers join it.
 */
export function mcpFastPath(
  app: Quartermaster,
  endpoint: McpEndpoint,
  sessions: ClientSessions,
  modern: ModernHandler,
): FastPath {
  const encode = encoder(app, endpoint, modern)

  return (exchange, body) => {
    const posted = readPostedMessage(exchange.request.headers, body)
    if (posted === undefined) return undefined
    if (posted.era === "modern") return answer(exchange, posted, undefined)
    const session = sessions.find(String(exchange.request.headers["mcp-session-id"] ?? ""), exchange.identity)
    if (session === undefined || endpoint.wantsLogs(session.server)) return undefined
    const release = sessions.use(session)
    return answer(exchange, posted, session).finally(release)
  }

  function answer(
    exchange: McpHttpExchange,
    posted: PostedMessage,
    session: ClientSession | undefined,
  ): Promise<boolean> {
    return posted.call === undefined ? list(exchange, posted, session) : call(exchange, posted, session, posted.call)
  }

  async function list(
    { response, identity }: McpHttpExchange,
    { era, id }: PostedMessage,
    session: ClientSession | undefined,
  ) {
    const bytes = await encode.encodeList(era, identity)
    const end = Buffer.from(`,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`)
    writeHead(response, session, resultBegins.length + bytes.length + end.length)
    response.cork()
    response.write(resultBegins)
    response.write(bytes)
    response.end(end)
    return true
  }

  async function call(
    exchange: McpHttpExchange,
    posted: PostedMessage,
    session: ClientSession | undefined,
    { name, input }: NonNullable<PostedMessage["call"]>,
  ): Promise<boolean> {
    const { response, identity } = exchange
    const { era, id } = posted
    const abilities = readCapabilities(
      session === undefined ? posted.capabilities : session.server.getClientCapabilities(),
    )
    const answer = await endpoint.callTool({
      identity,
      era,
      sessionId: session?.id,
      abilities,
      tool: name,
      input,
      traceId: traceIdIn(posted.meta),
      onDisconnect: (then) => onDisconnect(response, then),
    })
    if (response.destroyed) return true
    if (answer === undefined || "required" in answer) return false
    if ("fault" in answer) {
      const status = era === "modern" && answer.fault.code === missingCapability ? 400 : 200
      return write(response, session, id, `"error":${JSON.stringify(answer.fault)}`, status)
    }
    const text = await encode.encodeResult(era, identity, answer)
    if (text !== undefined) return write(response, session, id, `"result":${text}`)
    const webResponse = await encode.encodeWithSdk(era, id, answer)
    if (session !== undefined) webResponse.headers.set("mcp-session-id", session.id)
    await sendWebResponse(webResponse, response)
    return true
  }
}

/** The only error of a call that also has an HTTP status of its own. */
const missingCapability = -32_021

const resultBegins = Buffer.from('{"result":')

function write(
  response: ServerResponse,
  session: ClientSession | undefined,
  id: string | number,
  text: string,
  status = 200,
): true {
  const body = `{${text},"jsonrpc":"2.0","id":${typeof id === "number" ? id : JSON.stringify(id)}}`
  writeHead(response, session, Buffer.byteLength(body), status)
  response.end(body)
  return true
}

function writeHead(response: ServerResponse, session: ClientSession | undefined, length: number, status = 200): void {
  response.writeHead(
    status,
    session === undefined
      ? { "content-type": "application/json", "content-length": length }
      : { "content-type": "application/json", "content-length": length, "mcp-session-id": session.id },
  )
}
