import { isObject } from "../../lib/is-object.ts"
import {
  CLIENT_CAPABILITIES_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  Server,
  SERVER_INFO_META_KEY,
  type CallToolResult,
  type Implementation,
} from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { toAuthInfo } from "./auth.ts"
import type { ToolCallReply } from "./call-tool.ts"
import type { ClientIdentity } from "./client-identity.ts"
import type { McpEndpoint } from "./endpoint.ts"
import { toolList } from "./tool-list.ts"
import type { ModernHandler } from "./modern-handler.ts"

export type Era = "legacy" | "modern"

/** Writes responses exactly as the SDK would, for the fast path. */
export interface Encoder {
  /** The JSON of the `result` of tools/list. */
  encodeList(era: Era, identity: ClientIdentity): Promise<Buffer>
  /** The JSON of the `result` of tools/call; undefined when it must be encoded with the SDK. */
  encodeResult(era: Era, identity: ClientIdentity, reply: ToolCallReply): Promise<string | undefined>
  /** The response by the SDK itself, which removes unknown fields and refuses invalid ones. */
  encodeWithSdk(era: Era, id: string | number, reply: ToolCallReply): Promise<Response>
}

const revision = "2026-07-28"

const envelope = { [PROTOCOL_VERSION_META_KEY]: revision, [CLIENT_CAPABILITIES_META_KEY]: {} }

const maxLists = 1000

export function encoder(app: Quartermaster, endpoint: McpEndpoint, modern: ModernHandler): Encoder {
  const lists = { legacy: new Map<string, CachedList>(), modern: new Map<string, CachedList>() }
  let info: Promise<Implementation> | undefined

  return {
    async encodeList(era, identity) {
      const { json } = toolList(app, identity.agentId)
      const known = lists[era].get(identity.agentId)
      if (known !== undefined && known.json === json) return known.bytes
      const bytes = await askForList(era, identity)
      // If the list changed meanwhile, the next request asks again.
      if (lists[era].size >= maxLists) lists[era].clear()
      lists[era].set(identity.agentId, { json, bytes })
      return bytes
    },
    async encodeResult(era, identity, { result, outputSchema }) {
      if (!isPlain(result) || (outputSchema !== undefined && outputSchema["type"] !== "object")) return undefined
      if (era === "legacy") return JSON.stringify(result)
      const serverInfo = await (info ??= askForInfo(identity))
      const _meta = { ...result._meta, [SERVER_INFO_META_KEY]: serverInfo }
      return JSON.stringify({ ...result, resultType: "complete", _meta })
    },
    async encodeWithSdk(era, id, { result, outputSchema }) {
      const serverInfo = await (info ??= askForInfo({ agentId: "" }))
      const supportedProtocolVersions = era === "modern" ? [revision] : undefined
      const server = new Server(serverInfo, {
        capabilities: { tools: {} },
        ...(supportedProtocolVersions && { supportedProtocolVersions }),
      })
      server.setRequestHandler("tools/call", () => server.projectCallToolResult(result, outputSchema))
      return handleOnce(era, server, {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "", ...envelopeParams(era) },
      })
    },
  }

  async function askForList(era: Era, identity: ClientIdentity): Promise<Buffer> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: envelopeParams(era) } as const
    const answer =
      era === "modern"
        ? await askModern(identity, message)
        : await handleOnce(era, endpoint.server(identity, { era }), message)
    const { result } = (await answer.json()) as { result?: unknown }
    if (result === undefined) throw new Error("The SDK returned no list of tools.")
    return Buffer.from(JSON.stringify(result))
  }

  async function askForInfo(identity: ClientIdentity): Promise<Implementation> {
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: envelopeParams("modern") } as const
    const { result } = (await (await askModern(identity, message)).json()) as {
      result: { _meta: Record<string, unknown> }
    }
    return result._meta[SERVER_INFO_META_KEY] as Implementation
  }

  function askModern(identity: ClientIdentity, body: { method: string }): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": revision,
      "mcp-method": body.method,
    }
    const web = new Request("http://localhost/mcp", { method: "POST", headers })
    return modern.fetch(identity.agentId, web, { authInfo: toAuthInfo(identity), parsedBody: body })
  }
}

interface CachedList {
  json: string
  bytes: Buffer
}

function envelopeParams(era: Era) {
  return era === "modern" ? { _meta: envelope } : {}
}

/** Lets a server handle one message. */
async function handleOnce(
  era: Era,
  server: Server,
  message: { jsonrpc: "2.0"; id: string | number; method: string; params: Record<string, unknown> },
): Promise<Response> {
  const classification = era === "modern" ? { era, revision } : { era }
  const transport = new PerRequestHTTPServerTransport({ classification, responseMode: "auto" })
  await server.connect(transport)
  return transport.handleMessage(message)
}

/** Tests whether a result has only text content, and nothing that the SDK would remove or refuse. */
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
