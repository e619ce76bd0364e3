import type { ServerResponse } from "node:http"
import { TRACEPARENT_META_KEY } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { isTicket } from "../../model/result.ts"
import { readPosted, type Posted } from "./posted.ts"
import { readCapabilities } from "./capabilities.ts"
import type { McpDoor } from "./door.ts"
import { encoder } from "./encode.ts"
import { faultOf } from "./errors.ts"
import type { Exchange } from "./http.ts"
import { toolList } from "./lists.ts"
import type { ModernLeg } from "./modern.ts"
import { callResult, nameIn } from "./results.ts"
import type { Session, Sessions } from "./sessions.ts"
import { shortCall } from "./short-call.ts"
import { sendWeb } from "./web.ts"

/**
 * The short way for what is posted most: a single tools/list or tools/call that ends without waiting for anybody. It
 * answers exactly as the SDK's handlers would, in one piece of JSON. Undefined or false: it has not answered, and
 * the SDK's handlers must; a call that waits by then is joined there.
 */
export function mcpFront(app: App, door: McpDoor, sessions: Sessions, modern: ModernLeg) {
  const encode = encoder(app, door, modern)

  return (exchange: Exchange, body: unknown): Promise<boolean> | undefined => {
    const posted = readPosted(exchange.request.headers, body)
    if (posted === undefined) return undefined
    if (posted.era === "modern") return answer(exchange, posted, undefined)
    const session = sessions.find(String(exchange.request.headers["mcp-session-id"] ?? ""), exchange.speaker)
    if (session === undefined || door.wantsLogs(session.server)) return undefined
    const used = sessions.use(session)
    return answer(exchange, posted, session).finally(used)
  }

  function answer(exchange: Exchange, posted: Posted, session: Session | undefined): Promise<boolean> {
    return posted.call === undefined ? list(exchange, posted, session) : call(exchange, posted, session, posted.call)
  }

  async function list({ response, speaker }: Exchange, { era, id }: Posted, session: Session | undefined) {
    const bytes = await encode.list(era, speaker)
    const end = Buffer.from(`,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`)
    writeHead(response, session, resultBegins.length + bytes.length + end.length)
    response.cork()
    response.write(resultBegins)
    response.write(bytes)
    response.end(end)
    return true
  }

  async function call(
    exchange: Exchange,
    posted: Posted,
    session: Session | undefined,
    { name, input }: NonNullable<Posted["call"]>,
  ): Promise<boolean> {
    const { response, speaker } = exchange
    const { era, id } = posted
    const same = { speaker, tool: name, input }
    if (door.isUnderWay(same)) return false
    const can = readCapabilities(session === undefined ? posted.capabilities : session.server.getClientCapabilities())
    const about = { can, sessionId: session?.id, traceId: traceIn(posted.meta) }
    const ended = await shortCall(app, door, { ...same, ...about }, response)
    if (response.destroyed) return true
    if (ended === undefined) return false
    if (isTicket(ended)) {
      door.tickets.keep(same, ended)
      return false
    }
    const fault = faultOf(ended)
    if (fault !== undefined) {
      const status = era === "modern" && fault.code === missingCapability ? 400 : 200
      return write(response, session, id, `"error":${JSON.stringify(fault)}`, status)
    }
    const announced = toolList(app, speaker.agentId).announced(nameIn(ended))
    const told = { result: callResult(ended, announced), outputSchema: announced?.outputSchema }
    const text = await encode.result(era, speaker, told)
    if (text !== undefined) return write(response, session, id, `"result":${text}`)
    const answered = await encode.bySdk(era, id, told)
    if (session !== undefined) answered.headers.set("mcp-session-id", session.id)
    await sendWeb(answered, response)
    return true
  }
}

/** The one error of a call that the protocol wants as a status too. */
const missingCapability = -32_021

const resultBegins = Buffer.from('{"result":')

/** The trace a request is a part of, as W3C's traceparent names it. */
function traceIn(meta: Record<string, unknown> | undefined): string | undefined {
  const parent = meta?.[TRACEPARENT_META_KEY]
  return typeof parent === "string" ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(parent)?.[1] : undefined
}

function write(
  response: ServerResponse,
  session: Session | undefined,
  id: string | number,
  text: string,
  status = 200,
): true {
  const body = `{${text},"jsonrpc":"2.0","id":${typeof id === "number" ? id : JSON.stringify(id)}}`
  writeHead(response, session, Buffer.byteLength(body), status)
  response.end(body)
  return true
}

function writeHead(response: ServerResponse, session: Session | undefined, length: number, status = 200): void {
  response.writeHead(
    status,
    session === undefined
      ? { "content-type": "application/json", "content-length": length }
      : { "content-type": "application/json", "content-length": length, "mcp-session-id": session.id },
  )
}
