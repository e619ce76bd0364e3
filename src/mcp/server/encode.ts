import {
  CLIENT_CAPABILITIES_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  Server,
  SERVER_INFO_META_KEY,
  type CallToolResult,
  type Implementation,
} from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { authOf } from "./auth.ts"
import type { JsonSchema } from "../../model/schema.ts"
import type { McpDoor, Speaker } from "./door.ts"
import { toolList } from "./lists.ts"
import type { ModernLeg } from "./modern.ts"

export type Era = "legacy" | "modern"

/** How the SDK would write an answer, for whoever writes it without the SDK. */
export interface Encoder {
  /** The JSON of the `result` of tools/list. */
  list(era: Era, speaker: Speaker): Promise<Buffer>
  /** The JSON of the `result` of tools/call; undefined when the SDK must look at it first. */
  result(era: Era, speaker: Speaker, told: Told): Promise<string | undefined>
  /** The answer as the SDK gives it: it takes out what the protocol does not have, and refuses what is wrong. */
  bySdk(era: Era, id: string | number, told: Told): Promise<Response>
}

/** What a call came to, and the schema its caller knows for that. */
export interface Told {
  readonly result: CallToolResult
  readonly outputSchema: JsonSchema | undefined
}

const revision = "2026-07-28"

const envelope = { [PROTOCOL_VERSION_META_KEY]: revision, [CLIENT_CAPABILITIES_META_KEY]: {} }

const mostLists = 1000

export function encoder(app: App, door: McpDoor, modern: ModernLeg): Encoder {
  const lists = { legacy: new Map<string, KeptList>(), modern: new Map<string, KeptList>() }
  let info: Promise<Implementation> | undefined

  return {
    async list(era, speaker) {
      const { json } = toolList(app, speaker.agentId)
      const known = lists[era].get(speaker.agentId)
      if (known !== undefined && known.json === json) return known.bytes
      const bytes = await askForList(era, speaker)
      // It may have changed meanwhile: then the next one asks again.
      if (lists[era].size >= mostLists) lists[era].clear()
      lists[era].set(speaker.agentId, { json, bytes })
      return bytes
    },
    async result(era, speaker, { result, outputSchema }) {
      if (!isPlain(result) || (outputSchema !== undefined && outputSchema["type"] !== "object")) return undefined
      if (era === "legacy") return JSON.stringify(result)
      const serverInfo = await (info ??= askForInfo(speaker))
      const _meta = { ...result._meta, [SERVER_INFO_META_KEY]: serverInfo }
      return JSON.stringify({ ...result, resultType: "complete", _meta })
    },
    async bySdk(era, id, { result, outputSchema }) {
      const serverInfo = await (info ??= askForInfo({ agentId: "" }))
      const supportedProtocolVersions = era === "modern" ? [revision] : undefined
      const server = new Server(serverInfo, {
        capabilities: { tools: {} },
        ...(supportedProtocolVersions && { supportedProtocolVersions }),
      })
      server.setRequestHandler("tools/call", () => server.projectCallToolResult(result, outputSchema))
      return exchange(era, server, {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "", ...enveloped(era) },
      })
    },
  }

  async function askForList(era: Era, speaker: Speaker): Promise<Buffer> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: enveloped(era) } as const
    const answer =
      era === "modern" ? await askModern(speaker, message) : await exchange(era, door.server(speaker, { era }), message)
    const { result } = (await answer.json()) as { result?: unknown }
    if (result === undefined) throw new Error("The list of tools could not be made.")
    return Buffer.from(JSON.stringify(result))
  }

  async function askForInfo(speaker: Speaker): Promise<Implementation> {
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: enveloped("modern") } as const
    const { result } = (await (await askModern(speaker, message)).json()) as {
      result: { _meta: Record<string, unknown> }
    }
    return result._meta[SERVER_INFO_META_KEY] as Implementation
  }

  function askModern(speaker: Speaker, body: { method: string }): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": revision,
      "mcp-method": body.method,
    }
    const web = new Request("http://localhost/mcp", { method: "POST", headers })
    return modern.fetch(speaker.agentId, web, { authInfo: authOf(speaker), parsedBody: body })
  }
}

interface KeptList {
  json: string
  bytes: Buffer
}

function enveloped(era: Era) {
  return era === "modern" ? { _meta: envelope } : {}
}

/** One message to a server that has nobody else to serve. */
async function exchange(
  era: Era,
  server: Server,
  message: { jsonrpc: "2.0"; id: string | number; method: string; params: Record<string, unknown> },
): Promise<Response> {
  const classification = era === "modern" ? { era, revision } : { era }
  const transport = new PerRequestHTTPServerTransport({ classification, responseMode: "auto" })
  await server.connect(transport)
  return transport.handleMessage(message)
}

/** Nothing but text in it, and nothing that the SDK would take out or refuse. */
function isPlain(result: CallToolResult): boolean {
  for (const key in result) if (!resultKeys.has(key)) return false
  const { content, structuredContent, isError, _meta } = result
  if (!Array.isArray(content) || !content.every(isText)) return false
  if (isError !== undefined && typeof isError !== "boolean") return false
  if (_meta !== undefined && (!isObject(_meta) || SERVER_INFO_META_KEY in _meta)) return false
  return (
    structuredContent === undefined || (isObject(structuredContent) && !Object.hasOwn(structuredContent, "__proto__"))
  )
}

const resultKeys = new Set(["content", "structuredContent", "isError", "_meta"])

function isText(part: Record<string, unknown>): boolean {
  let keys = 0
  for (const _ in part) keys += 1
  return keys === 2 && part["type"] === "text" && typeof part["text"] === "string"
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
