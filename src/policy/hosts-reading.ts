import { readUrl } from "../model/address.ts"
import { addressKind, normalIp, type AddressKind } from "./hosts-addresses.ts"

/** An address of the web as it is judged and connected to. */
export interface WebAddress {
  /** What is sent for; no other text of it is ever parsed again. */
  readonly url: URL
  readonly scheme: "http" | "https"
  /** In small letters, foreign letters as xn--, without a dot at its end and without brackets. */
  readonly host: string
  readonly port: number
  readonly isDefaultPort: boolean
  /** For a host that is an IP address. */
  readonly kind?: AddressKind | undefined
}

export interface Unreadable {
  readonly problem: string
}

/** Reads a whole address, or a host with or without a port, which counts as one of https. */
export function readWebAddress(what: string): WebAddress | Unreadable {
  const text = what.replace(/^ +| +$/g, "")
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text))
    return { problem: "The address has control characters in it. Leave them out and call again." }
  const whole = isBareHost(text) ? `https://${text}` : text
  const [, scheme = "", authority = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(whole) ?? []
  if (scheme === "")
    return { problem: `${shown(text)} is no web address. Write it whole, like https://example.com/page.` }
  if (!/^https?$/i.test(scheme))
    return { problem: `Only http and https addresses are reached, not ${shown(scheme.toLowerCase())}:.` }
  if (/\\/.test(whole.split(/[?#]/, 1)[0]!))
    return { problem: "The address has a backslash in it, which programs read differently. Write it with slashes." }
  if (authority.includes("@"))
    return { problem: "The address has a name or password before its host. Leave out what stands before the @." }
  const url = authority === "" ? undefined : readUrl(whole)
  if (url === undefined) return { problem: `${shown(text)} cannot be read as a web address. Check its host and port.` }
  return addressOf(url)
}

function addressOf(url: URL): WebAddress | Unreadable {
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1)
  const name = url.hostname.replace(/^\[|\]$/g, "")
  const ip = normalIp(name)
  if (ip === undefined && !isName(name)) return { problem: `${shown(name)} is no host name. Check it.` }
  const scheme = url.protocol === "https:" ? "https" : "http"
  const usual = scheme === "https" ? 443 : 80
  const port = url.port === "" ? usual : Number(url.port)
  const about = { url, scheme, host: ip ?? name, port, isDefaultPort: port === usual } as const
  return ip === undefined ? about : { ...about, kind: addressKind(name) }
}

/** A host, with a port or without, and nothing else. */
function isBareHost(text: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[^\s:/?#\\@[\]]+)(:\d{1,5})?$/i.test(text)
}

/** The URL parser also takes `*`, `;` or `,` for letters of a host, which no name has and others read in their own way. */
function isName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label))
}

function shown(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text
  // What stands before an @ may be a password.
  return JSON.stringify(short.replace(/[^/]*@/g, "…@"))
}
