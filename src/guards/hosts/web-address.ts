import { parseUrl } from "../../lib/url.ts"
import { addressKind, normalIp, type AddressKind } from "./ip-address.ts"

/** A parsed web address, as it is judged and connected to. */
export interface WebAddress {
  /** The URL that is requested. The text is never parsed a second time. */
  readonly url: URL
  readonly scheme: "http" | "https"
  /** In lower case and punycode, without a trailing dot and without brackets. */
  readonly host: string
  readonly port: number
  readonly isDefaultPort: boolean
  /** Set when the host is an IP address. */
  readonly kind?: AddressKind
}

export interface UnreadableAddress {
  readonly problem: string
}

/** Parses a whole address, or a bare host with an optional port, which means https. */
export function readWebAddress(what: string): WebAddress | UnreadableAddress {
  const text = what.replace(/^ +| +$/g, "")
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text))
    return { problem: "The address contains control characters. Remove them and call again." }
  const whole = isBareHost(text) ? `https://${text}` : text
  const [, scheme = "", authority = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(whole) ?? []
  if (scheme === "")
    return { problem: `${shown(text)} is not a web address. Write it in full, like https://example.com/page.` }
  if (!/^https?$/i.test(scheme))
    return { problem: `Only http and https addresses are supported, not ${shown(scheme.toLowerCase())}:.` }
  if (/\\/.test(whole.split(/[?#]/, 1)[0]!))
    return { problem: "The address contains a backslash, which programs read differently. Write it with slashes." }
  if (authority.includes("@"))
    return { problem: "The address has a user name or password before its host. Remove everything before the @." }
  const url = authority === "" ? undefined : parseUrl(whole)
  if (url === undefined) return { problem: `${shown(text)} cannot be read as a web address. Check its host and port.` }
  return addressOf(url)
}

function addressOf(url: URL): WebAddress | UnreadableAddress {
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1)
  const name = url.hostname.replace(/^\[|\]$/g, "")
  const ip = normalIp(name)
  if (ip === undefined && !isName(name)) return { problem: `${shown(name)} is not a valid host name. Check it.` }
  const scheme = url.protocol === "https:" ? "https" : "http"
  const defaultPort = scheme === "https" ? 443 : 80
  const port = url.port === "" ? defaultPort : Number(url.port)
  const address = { url, scheme, host: ip ?? name, port, isDefaultPort: port === defaultPort } as const
  return ip === undefined ? address : { ...address, kind: addressKind(name) }
}

/** A host with an optional port, and nothing else. */
function isBareHost(text: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[^\s:/?#\\@[\]]+)(:\d{1,5})?$/i.test(text)
}

/** Stricter than the URL parser, which also accepts `*`, `;` and `,` in a host. */
function isName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label))
}

function shown(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text
  // The text before an @ may be a password.
  return JSON.stringify(short.replace(/[^/]*@/g, "…@"))
}
