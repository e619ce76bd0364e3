import { readUrl } from "../../model/address.ts"
import type { McpServerSpec, McpServerState } from "../../model/mcp.ts"

export type TransportKind = McpServerState["transport"]

/** Why a server of the configuration can never be connected, as the end of a sentence; undefined when it can. */
export function flawOf(spec: McpServerSpec): string | undefined {
  if (kindOf(spec) === "stdio") {
    return spec.command === undefined ? "has neither a command nor a url; write one of them" : undefined
  }
  if (spec.url === undefined) return `is to be reached by ${spec.transport} but has no url; write one`
  const url = readUrl(spec.url)
  if (url === undefined) return `has the url ${JSON.stringify(spec.url)}, which is none`
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return `has a url that begins with ${url.protocol}; only http and https are spoken`
  }
  return undefined
}

/** By which way a server is tried first. */
export function kindOf(spec: McpServerSpec): TransportKind {
  return spec.transport ?? (spec.url === undefined ? "stdio" : "http")
}
