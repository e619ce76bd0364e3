import type { IncomingHttpHeaders } from "node:http"
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server"

export interface HostCheckOptions {
  /** The address the server listens on. */
  host: string
  /** The address that people open. */
  publicUrl?: string
  allowedHosts?: readonly string[]
  allowedOrigins?: readonly string[]
}

const maxCached = 1000

/**
 * Returns a function that says why a request is refused: its Host header names another server, or it comes from a web
 * page of another site. This stops DNS rebinding: a browser sends the host name of the page that made the request. A
 * page of another port of this machine is another site, too: an agent may have started the program that serves it.
 */
export function hostCheck(options: HostCheckOptions): (headers: IncomingHttpHeaders) => string | undefined {
  const { host: listening, publicUrl, allowedHosts = [], allowedOrigins = [] } = options
  const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  const hosts = [...localhostAllowedHostnames(), ...ownName(listening), ...publicHosts, ...allowedHosts]
  const host = cached((header) => (validateHostHeader(header, hosts).ok ? undefined : hostSentence(header)))
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  const otherSite = cached((header) =>
    validateOriginHeader(header, [...allowedOrigins]).ok ? undefined : originSentence(header),
  )
  return ({ host: name = "", origin }) => {
    const isOwn = origin === undefined || origin === `http://${name}` || origin === publicOrigin
    return host(name) ?? (isOwn ? undefined : otherSite(origin))
  }
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
