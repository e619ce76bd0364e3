import { parseUrl } from "../../lib/url.ts"
import { printable } from "../../lib/printable.ts"

/** The host of a link, as a browser reads it. */
export interface LinkAddress {
  /** In lower case, with foreign letters as xn--. Empty if there is none. */
  host: string
  /** Warnings for the person, one sentence each. */
  warnings: string[]
}

export function readLinkAddress(text: string): LinkAddress {
  const url = parseUrl(text)
  if (url === undefined) return { host: "", warnings: ["It cannot be read as an address."] }
  const { protocol, host, username, password } = url
  const warnings: string[] = []
  const scheme = protocol.slice(0, -1)
  if (scheme !== "https" && scheme !== "http") warnings.push(`It is no web address but one of the kind '${scheme}'.`)
  if (scheme === "http") warnings.push("It is not encrypted (http).")
  if (username !== "" || password !== "")
    warnings.push("What stands before the @ is not where it leads, whatever it looks like.")
  if (host.split(".").some((part) => part.startsWith("xn--")))
    warnings.push("The host has foreign letters, which can look like others.")
  return { host, warnings }
}

/** Highlights the host inside the address, if the address contains it literally. */
export function paintHost(text: string, bold: (text: string) => string): (row: string) => string {
  const address = readLinkAddress(text)
  const [, before = "", authority = ""] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#\\]*)/i.exec(text) ?? []
  const host = authority.slice(authority.lastIndexOf("@") + 1)
  if (host === "" || host.toLowerCase() !== address.host) return (row) => row
  const start = printable(before + authority.slice(0, authority.length - host.length))
  return (row) => (row.startsWith(start + host) ? start + bold(host) + row.slice(start.length + host.length) : row)
}
