import type { IncomingHttpHeaders } from "node:http"
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server"

export interface GuardOptions {
  /** The address that is listened on. */
  host: string
  allowedHosts?: readonly string[] | undefined
  allowedOrigins?: readonly string[] | undefined
}

const mostRemembered = 1000

/**
 * Says why a request must not be answered: it names a host that is not this one, or comes from a page of another site.
 * A browser that was led here by a name that points to us (DNS rebinding) sends that name.
 */
export function guard(options: GuardOptions): (headers: IncomingHttpHeaders) => string | undefined {
  const hosts = [...localhostAllowedHostnames(), ...ownName(options.host), ...(options.allowedHosts ?? [])]
  const origins = [...localhostAllowedOrigins(), ...(options.allowedOrigins ?? [])]
  const host = remembered((given) => (validateHostHeader(given, hosts).ok ? undefined : hostSentence(given)))
  const origin = remembered((given) => (validateOriginHeader(given, origins).ok ? undefined : originSentence(given)))
  return (headers) => host(headers.host ?? "") ?? (headers.origin === undefined ? undefined : origin(headers.origin))
}

/** A client sends the same header with every request. */
function remembered(judge: (given: string) => string | undefined): (given: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (given) => {
    if (known.has(given)) return known.get(given)
    if (known.size >= mostRemembered) known.clear()
    const verdict = judge(given)
    known.set(given, verdict)
    return verdict
  }
}

function ownName(host: string): string[] {
  if (host === "0.0.0.0" || host === "::") return []
  return [host.includes(":") ? `[${host}]` : host.toLowerCase()]
}

function hostSentence(given: string): string {
  return `The Host header names '${given.slice(0, 200)}', which is not this server. Use localhost, or name the host in server.allowedHosts.`
}

function originSentence(given: string): string {
  return `Pages of '${given.slice(0, 200)}' may not call this server. Name the host of the page in server.allowedOrigins if it should.`
}
