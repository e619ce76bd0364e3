import { isObject } from "../../lib/is-object.ts"
import type { IncomingHttpHeaders } from "node:http"
import {
  BAGGAGE_META_KEY,
  classifyInboundRequest,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
  type ClientCapabilities,
} from "@modelcontextprotocol/server"

/** The revision whose requests carry their own envelope. */
export const modernRevision = "2026-07-28"

/** A message that the fast path may answer. */
export interface PostedMessage {
  readonly id: string | number
  readonly era: "legacy" | "modern"
  /** The tool and input of tools/call; undefined for tools/list. */
  readonly call: { readonly name: string; readonly input: Record<string, unknown> } | undefined
  readonly meta: Record<string, unknown> | undefined
  /** The capabilities this request declares; undefined for a session, which knows its own. */
  readonly capabilities: ClientCapabilities | undefined
}

/**
 * Reads a single, perfectly regular tools/list or tools/call. Undefined for everything else, even if it is merely
 * unusual: then the SDK's handlers answer it.
 */
export function readPostedMessage(headers: IncomingHttpHeaders, body: unknown): PostedMessage | undefined {
  if (!isObject(body) || body["jsonrpc"] !== "2.0") return undefined
  const { id, method, params } = body
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined
  if (method !== "tools/list" && method !== "tools/call") return undefined
  if (Object.keys(body).length !== (params === undefined ? 3 : 4)) return undefined
  if (params !== undefined && !isObject(params)) return undefined
  const call = method === "tools/call" ? readCall(params) : undefined
  if (method === "tools/call" ? call === undefined : !hasOnly(params, metaOnly)) return undefined
  const meta = params?.["_meta"]
  if (meta !== undefined && !(isObject(meta) && hasOnly(meta, knownMeta))) return undefined
  const known = { id: id as string | number, call, meta }
  if (meta !== undefined && PROTOCOL_VERSION_META_KEY in meta) {
    const capabilities = readEnvelope(headers, body, meta, method, call?.name)
    return capabilities === undefined ? undefined : { ...known, era: "modern", capabilities }
  }
  if (meta !== undefined && (CLIENT_CAPABILITIES_META_KEY in meta || CLIENT_INFO_META_KEY in meta)) return undefined
  return isLegacy(headers) ? { ...known, era: "legacy", capabilities: undefined } : undefined
}

const metaOnly = new Set(["_meta"])
const callOnly = new Set(["name", "arguments", "_meta"])
const knownMeta = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
  BAGGAGE_META_KEY,
])

function readCall(params: Record<string, unknown> | undefined): PostedMessage["call"] {
  if (params === undefined || !hasOnly(params, callOnly)) return undefined
  const { name, arguments: input = {} } = params
  if (typeof name !== "string" || !isObject(input) || Object.hasOwn(input, "__proto__")) return undefined
  return { name, input }
}

/** Envelopes that the SDK accepted, cached because a client sends the same one with every request. */
const validEnvelopes = new Map<string, ClientCapabilities>()
const maxValid = 1000

function readEnvelope(
  headers: IncomingHttpHeaders,
  body: unknown,
  meta: Record<string, unknown>,
  method: string,
  name: string | undefined,
): ClientCapabilities | undefined {
  if (meta[PROTOCOL_VERSION_META_KEY] !== modernRevision) return undefined
  if (headers["mcp-protocol-version"] !== modernRevision || headers["mcp-method"] !== method) return undefined
  if (name === undefined ? headers["mcp-name"] !== undefined : headers["mcp-name"] !== name) return undefined
  const envelope = JSON.stringify([meta[CLIENT_CAPABILITIES_META_KEY], meta[CLIENT_INFO_META_KEY]])
  const known = validEnvelopes.get(envelope)
  if (known !== undefined) return known
  const classified = classifyInboundRequest({ httpMethod: "POST", protocolVersionHeader: modernRevision, body })
  if (classified.kind !== "modern") return undefined
  if (validEnvelopes.size >= maxValid) validEnvelopes.clear()
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities
  validEnvelopes.set(envelope, capabilities)
  return capabilities
}

function isLegacy(headers: IncomingHttpHeaders): boolean {
  const { accept, "mcp-protocol-version": version } = headers
  if (accept === undefined || !accept.includes("application/json") || !accept.includes("text/event-stream"))
    return false
  return version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))
}

function hasOnly(value: object | undefined, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return false
  return true
}
