import { Agent, request, type IncomingHttpHeaders } from "node:http"
import { onTestFinished } from "vitest"
import type { Config } from "../config/schema.ts"
import type { QuartermasterOptions } from "../quartermaster.ts"
import { open } from "../testing/open.ts"
import { serveHttp, type ServeOptions } from "./serve.ts"

/** A real house with a real server before it, on a port of its own; closed after the test. */
export async function serving(
  config: Config = {},
  options: Partial<ServeOptions> = {},
  houseOptions: QuartermasterOptions = {},
) {
  const house = await open(config, houseOptions)
  const served = await serveHttp(house, { port: 0, version: "1.2.3", ...options })
  onTestFinished(() => served.close())
  const token = async (agentId: string, more: { person?: string; lifetimeMs?: number | null } = {}) =>
    (await house.tokens.create({ agentId, ...more }, "a test")).token
  return { house, served, token, ask: asker(served.port) }
}

export interface Answered {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The message, whether it came as JSON or on a stream. */
  message: Record<string, unknown> | undefined
}

export interface Asking {
  method?: string
  path?: string
  headers?: Record<string, string | undefined> | undefined
  body?: string | Buffer | undefined
  signal?: AbortSignal
}

/** Raw HTTP: nothing that a client library would add or put right. */
export function asker(port: number) {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  return ({ method = "POST", path = "/mcp", headers = {}, body, signal }: Asking): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
      const asked = request({ host: "127.0.0.1", port, method, path, headers: sent as never, signal, agent })
      asked.on("error", reject)
      asked.on("response", (response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const { statusCode: status = 0, headers: given } = response
          resolve({ status, headers: given, text, message: messageIn(given["content-type"], text) })
        })
      })
      asked.end(body)
    })
}

/** The last message that is an answer. */
function messageIn(type: string | undefined, text: string): Record<string, unknown> | undefined {
  if (type?.includes("json") === true) return JSON.parse(text) as Record<string, unknown>
  if (type?.includes("event-stream") !== true) return undefined
  const messages = text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
  return messages.findLast((message) => "id" in message && !("method" in message))
}

export const revisions = { legacy: "2025-11-25", modern: "2026-07-28" } as const

/** What a client sends with every message. */
export function headersFor(token: string | undefined, more: Record<string, string | undefined> = {}) {
  return {
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...more,
  }
}

export const envelope = (capabilities: unknown = {}, more: Record<string, unknown> = {}) => ({
  "io.modelcontextprotocol/protocolVersion": revisions.modern,
  "io.modelcontextprotocol/clientCapabilities": capabilities,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  ...more,
})

/** A request of the newest revision with the headers that mirror it. */
export function modernRequest(
  token: string | undefined,
  method: string,
  params: Record<string, unknown> = {},
  capabilities: unknown = {},
): Asking {
  const { _meta, ...rest } = params
  const named = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...rest, _meta: envelope(capabilities, _meta as never) } }
  return {
    headers: headersFor(token, { "mcp-protocol-version": revisions.modern, "mcp-method": method, ...named }),
    body: JSON.stringify(body),
  }
}

/** Says hello and returns the headers of the session. */
export async function beginSession(
  ask: ReturnType<typeof asker>,
  token: string,
  capabilities: unknown = {},
  revision: string = revisions.legacy,
): Promise<Record<string, string | undefined>> {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: "test", version: "1" } }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
  const { status, headers, text } = await ask({ headers: headersFor(token), body })
  const id = headers["mcp-session-id"]
  if (status !== 200 || id === undefined) throw new Error(`initialize was answered with ${status}: ${text}`)
  const own = headersFor(token, { "mcp-session-id": String(id), "mcp-protocol-version": revision })
  await ask({ headers: own, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) })
  return own
}

export const legacyBody = (method: string, params?: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })
