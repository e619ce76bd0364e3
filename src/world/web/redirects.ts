import { readUrl } from "../../model/address.ts"
import { failure } from "../../model/ending.ts"
import type { WebAnswer, WebRequest } from "../../model/web.ts"
import type { HostJudgement } from "../../policy/hosts-lists.ts"
import type { WebAddress } from "../../policy/hosts-reading.ts"
import { hostDenied } from "./failures.ts"
import { withoutBodyHeaders, withoutSecretHeaders } from "./headers.ts"

/** One request on its way through redirects. */
export interface Hop {
  readonly address: WebAddress
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

const mostRedirects = 10

/** Where an answer leads; undefined when it is no redirect. */
export function redirectOf(
  { status, headers }: Pick<WebAnswer, "status" | "headers">,
  from: WebAddress,
): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers["location"] : undefined
  const url = location === undefined ? undefined : readUrl(location, from.url.href)
  if (url !== undefined) url.hash = ""
  return url
}

/**
 * Whether a redirect is followed. One that leads where no tool may go ends the request. To another host it is followed
 * only where a line of the configuration allows that host, because rules and people have seen the first one alone.
 */
export function isFollowed(mode: WebRequest["redirects"], from: WebAddress, to: HostJudgement): boolean {
  if (mode === "none") return false
  if (to.says === "deny" || to.address === undefined)
    throw hostDenied(`${from.host} redirects to where no tool goes: ${to.reason.sentence}`)
  if (to.address.url.origin === from.url.origin) return true
  if (to.address.host === from.host) return to.says !== "ask"
  return mode === "all" && to.says === "allow"
}

/** The next request, as browsers make it: what was posted is not posted again unless the answer says so. */
export function nextHop(hop: Hop, status: number, address: WebAddress): Hop {
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST"
  const kept = address.url.origin === hop.address.url.origin ? hop.headers : withoutSecretHeaders(hop.headers)
  if (!becomesGet) return { ...hop, address, headers: kept }
  return { address, method: "GET", headers: withoutBodyHeaders(kept), body: undefined }
}

/** Remembers where a request has been, and ends it where it goes round. */
export function watchHops(): (hop: Hop) => void {
  const seen: string[] = []
  return ({ address, method }) => {
    const place = `${method} ${address.url.href}`
    const sites = [...new Set([...seen.map((one) => new URL(one.replace(/^\S+ /, "")).host), address.url.host])].join(
      ", ",
    )
    if (seen.includes(place))
      throw failure(`The redirects go round in a circle (${sites}). Use another address.`, {
        toolCode: "redirect_loop",
      })
    if (seen.length > mostRedirects)
      throw failure(
        `There were more than ${mostRedirects} redirects, one after the other (${sites}). Use another address.`,
        {
          toolCode: "too_many_redirects",
        },
      )
    seen.push(place)
  }
}
