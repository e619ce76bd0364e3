import { parseUrl } from "../../lib/url.ts"
import { failure } from "../../core/ending.ts"
import type { WebResponse, WebRequest } from "./web-access.ts"
import type { HostJudgement } from "../../guards/hosts/host-lists.ts"
import type { WebAddress } from "../../guards/hosts/web-address.ts"
import { hostDenied } from "./failures.ts"
import { withoutBodyHeaders, withoutSecretHeaders } from "./headers.ts"

/** One request of a chain of redirects. */
export interface Hop {
  readonly address: WebAddress
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

const maxRedirects = 10

/** The target of a redirect; undefined if the response is not one. */
export function redirectOf(
  { status, headers }: Pick<WebResponse, "status" | "headers">,
  from: WebAddress,
): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers["location"] : undefined
  const url = location === undefined ? undefined : parseUrl(location, from.url.href)
  if (url !== undefined) url.hash = ""
  return url
}

/**
 * Reports whether a redirect is followed. One to a denied host ends the request. One to another host is followed only
 * if the configuration allows that host, because rules and people have seen only the first host.
 */
export function isFollowed(mode: WebRequest["redirects"], from: WebAddress, to: HostJudgement): boolean {
  if (mode === "none") return false
  if (to.verdict === "deny" || to.address === undefined)
    throw hostDenied(`${from.host} redirects to an address that tools may not use: ${to.reason.sentence}`)
  if (to.address.url.origin === from.url.origin) return true
  if (to.address.host === from.host) return to.verdict !== "ask"
  return mode === "all" && to.verdict === "allow"
}

/** The next request, as browsers send it: a POST is not repeated unless the status says so. */
export function nextHop(hop: Hop, status: number, address: WebAddress): Hop {
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST"
  const kept = address.url.origin === hop.address.url.origin ? hop.headers : withoutSecretHeaders(hop.headers)
  if (!becomesGet) return { ...hop, address, headers: kept }
  return { address, method: "GET", headers: withoutBodyHeaders(kept), body: undefined }
}

/** Remembers the hops of a request, and throws on a loop or too many redirects. */
export function watchHops(): (hop: Hop) => void {
  const seen: string[] = []
  return ({ address, method }) => {
    const request = `${method} ${address.url.href}`
    const hosts = [
      ...new Set([...seen.map((earlier) => new URL(earlier.replace(/^\S+ /, "")).host), address.url.host]),
    ].join(", ")
    if (seen.includes(request))
      throw failure(`The redirects form a loop (${hosts}). Use another address.`, {
        toolCode: "redirect_loop",
      })
    if (seen.length > maxRedirects)
      throw failure(`There were more than ${maxRedirects} redirects in a row (${hosts}). Use another address.`, {
        toolCode: "too_many_redirects",
      })
    seen.push(request)
  }
}
