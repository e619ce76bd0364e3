import { readUrl } from "../model/address.ts"
import { printable } from "./printable.ts"

/** Where a link leads, as whoever opens it would read it. */
export interface Address {
  /** As a browser names it: in small letters, foreign letters spelled as xn--. Empty when there is none. */
  host: string
  /** What about it should make a person look twice, one sentence each. */
  warnings: string[]
}

export function readAddress(text: string): Address {
  const url = readUrl(text)
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

/** Paints the host inside the address, where it stands there as it is; any other text stays as it was. */
export function paintHost(text: string, bold: (text: string) => string): (row: string) => string {
  const address = readAddress(text)
  const [, before = "", authority = ""] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#\\]*)/i.exec(text) ?? []
  const host = authority.slice(authority.lastIndexOf("@") + 1)
  if (host === "" || host.toLowerCase() !== address.host) return (row) => row
  const start = printable(before + authority.slice(0, authority.length - host.length))
  return (row) => (row.startsWith(start + host) ? start + bold(host) + row.slice(start.length + host.length) : row)
}
