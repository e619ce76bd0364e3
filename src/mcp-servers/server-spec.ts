import { parseUrl } from "../lib/url.ts"
import type { McpServerSpec, McpServerState } from "../core/mcp.ts"
import { needsVariables } from "../core/unset-variables.ts"

export type TransportKind = McpServerState["transport"]

/** Why a configured server can never be connected, as the end of a sentence; undefined when it can. */
export function specProblem(spec: McpServerSpec): string | undefined {
  if (spec.unset !== undefined) return needsVariables(spec.unset)
  if (transportKindOf(spec) === "stdio") {
    return spec.command === undefined ? "has neither a command nor a url; write one of them" : undefined
  }
  if (spec.url === undefined) return `uses the transport ${spec.transport} but has no url; write one`
  const url = parseUrl(spec.url)
  if (url === undefined) return `has the url ${JSON.stringify(spec.url)}, which is not a valid url`
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return `has a url that begins with ${url.protocol}; only http and https are supported`
  }
  return undefined
}

/** The transport that is tried first. */
export function transportKindOf(spec: McpServerSpec): TransportKind {
  return spec.transport ?? (spec.url === undefined ? "stdio" : "http")
}
