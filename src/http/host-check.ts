import type { IncomingHttpHeaders } from "node:http"
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server"

export interface HostCheckOptions {
  /** The address the server listens on. */
  host: string
  /** The address that people open. */
  publicUrl?: string | undefined
  allowedHosts?: readonly string[] | undefined
  allowedOrigins?: readonly string[] | undefined
}

const maxCached = 1000

/**
 * Returns a function that says why a request is refused: its Host header names another server, or it comes from a web
 * page of another site. This stops DNS rebinding: a browser sends the host name of the page that made the request.
 */
export function hostCheck(options: HostCheckOptions): (headers: IncomingHttpHeaders) => string | undefined {
  const { host: listening, publicUrl, allowedHosts = [], allowedOrigins = [] } = options
  const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  const hosts = [...localhostAllowedHostnames(), ...ownName(listening), ...publicHosts, ...allowedHosts]
  const origins = [...localhostAllowedOrigins(), ...publicHosts, ...allowedOrigins]
  const host = cached((header) => (validateHostHeader(header, hosts).ok ? undefined : hostSentence(header)))
  const origin = cached((header) => (validateOriginHeader(header, origins).ok ? undefined : originSentence(header)))
  return (headers) => host(headers.host ?? "") ?? (headers.origin === undefined ? undefined : origin(headers.origin))
}

/** Caches the check by header: a client sends the same header with every request. */
function cached(check: (header: string) => string | undefined): (header: string) => string | undefined {
  const results = new Map<string, string | undefined>()
  return (header) => {
    if (results.has(header)) return results.get(header)
    if (results.size >= maxCached) results.clear()
    const verdict = check(header)
    results.set(header, verdict)
    return verdict
  }
}

function ownName(host: string): string[] {
  if (host === "0.0.0.0" || host === "::") return []
  return [host.includes(":") ? `[${host}]` : host.toLowerCase()]
}

function hostSentence(header: string): string {
  return `The Host header names '${header.slice(0, 200)}', which is not this server. Use localhost, or state the address that people open in server.publicUrl, or name the host in server.allowedHosts.`
}

function originSentence(header: string): string {
  return `Pages of '${header.slice(0, 200)}' may not call this server. Name the host of the page in server.allowedOrigins if it should.`
}
