import { Agent, request, type IncomingHttpHeaders } from "node:http"
import { onTestFinished } from "vitest"
import type { Config } from "../../config/schema.ts"
import type { AppOptions } from "../../app/app-options.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { mcpOverHttp } from "../mcp/http.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { serveHttp, type ServeOptions } from "./serve.ts"

/** Serves a test app over HTTP on a free port; both are closed after the test. */
export async function serveAppForTest(
  config: Config = {},
  options: Partial<ServeOptions> = {},
  appOptions: AppOptions = {},
  makeMcp = mcpOverHttp,
) {
  const app = await openTestApp(config, appOptions)
  const forms = { inClient: "all", fastestAnswerMs: 0 } as const
  const served = await serveHttp(app, { port: 0, version: "1.2.3", ...forms, ...options }, makeMcp)
  onTestFinished(() => served.close())
  const token = async (agentId: string, more: { person?: string; lifetimeMs?: number | null } = {}) =>
    (await app.tokens.create({ agentId, ...more }, "a test")).token
  return { app, served, token, ask: rawClient(served.port) }
}

/** Signs somebody in. Returns the headers that their page sends with every request. */
export async function sessionHeaders({ signIn }: Pick<Quartermaster, "signIn">, person: string, isMachineUser = false) {
  const { link } = await signIn.createLink({ person, isMachineUser })
  const { cookie, page } = (await signIn.redeem(link))!.secrets
  return { cookie: `qm_session=${cookie}`, "x-quartermaster-session": page }
}

/** Sends every message to the SDK's handlers. */
export const withoutFastPath: typeof mcpOverHttp = (app, endpoint, options) =>
  mcpOverHttp(app, endpoint, options, () => () => undefined)

export interface RawResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The JSON-RPC response, whether it came as JSON or on an event stream. */
  message: Record<string, unknown> | undefined
}

export interface RawRequest {
  method?: string
  path?: string
  headers?: Record<string, string | undefined>
  body?: string | Buffer
  signal?: AbortSignal
}

/** Sends raw HTTP, without anything that a client library would add or correct. */
export function rawClient(port: number) {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  return ({ method = "POST", path = "/mcp", headers = {}, body, signal }: RawRequest): Promise<RawResponse> =>
    new Promise((resolve, reject) => {
      const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
      const outgoing = request({ host: "127.0.0.1", port, method, path, headers: sent as never, signal, agent })
      outgoing.on("error", reject)
      outgoing.on("response", (response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, headers: received, text, message: messageIn(received["content-type"], text) })
        })
      })
      outgoing.end(body)
    })
}

/** The last message that is a response. */
function messageIn(type: string | undefined, text: string): Record<string, unknown> | undefined {
  if (type !== undefined && /[/+]json/.test(type)) return JSON.parse(text) as Record<string, unknown>
  if (type?.includes("event-stream") !== true) return undefined
  const messages = text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
  return messages.findLast((message) => "id" in message && !("method" in message))
}

export const protocolRevisions = { legacy: "2025-11-25", modern: "2026-07-28" } as const

/** The headers a client sends with every message. */
export function headersFor(token: string | undefined, more: Record<string, string | undefined> = {}) {
  return {
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...more,
  }
}

export const envelope = (capabilities: unknown = {}, more: Record<string, unknown> = {}) => ({
  "io.modelcontextprotocol/protocolVersion": protocolRevisions.modern,
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
): RawRequest {
  const { _meta, ...rest } = params
  const named = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...rest, _meta: envelope(capabilities, _meta as never) } }
  return {
    headers: headersFor(token, { "mcp-protocol-version": protocolRevisions.modern, "mcp-method": method, ...named }),
    body: JSON.stringify(body),
  }
}

/** Initializes a session and returns the headers for its requests. */
export async function beginSession(
  ask: ReturnType<typeof rawClient>,
  token: string,
  capabilities: unknown = {},
  revision: string = protocolRevisions.legacy,
): Promise<Record<string, string | undefined>> {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: "test", version: "1" } }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
  const { status, headers, text } = await ask({ headers: headersFor(token), body })
  const id = headers["mcp-session-id"]
  if (status !== 200 || id === undefined) throw new Error(`initialize was answered with ${status}: ${text}`)
  const sessionHeaders = headersFor(token, { "mcp-session-id": String(id), "mcp-protocol-version": revision })
  await ask({ headers: sessionHeaders, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) })
  return sessionHeaders
}

export const legacyBody = (method: string, params?: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })
