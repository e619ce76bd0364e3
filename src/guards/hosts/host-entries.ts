import { addressKind } from "./ip-address.ts"
import { readWebAddress, type WebAddress } from "./web-address.ts"

/** A line of `tools.hosts`, and its place in the configuration. */
export interface HostLine {
  readonly text: string
  readonly source: string
}

/** A parsed line: `docs.example.com`, `*.trusted.example`, `localhost:3000`, `http://old.example`, `*`. */
export interface HostEntry {
  readonly source: string
  readonly text: string
  readonly scheme?: "http" | "https"
  /** The host or, with `subdomainsOnly`, the domain; undefined for `*`. */
  readonly host?: string
  /** `*.example.com`: matches hosts below the domain. */
  readonly subdomainsOnly: boolean
  readonly port?: number
}

/** Describes the mistake of a line, as the rest of a sentence about it; undefined when there is none. */
export function hostLineMistake(text: string, list: "allow" | "deny"): string | undefined {
  const read = readEntry({ text, source: "" }, list)
  return "mistake" in read ? read.mistake : undefined
}

/** Throws for an invalid line, because ignoring a line of the deny list would allow the host. */
export function readHostLines(lines: readonly HostLine[], list: "allow" | "deny"): HostEntry[] {
  return lines.map((line) => {
    const read = readEntry(line, list)
    if ("mistake" in read) throw new TypeError(`${line.source} ${JSON.stringify(line.text)} ${read.mistake}.`)
    return read
  })
}

/** Without a port, an allow entry matches the default ports only, and a deny entry matches every port. */
export function entryAllows(entry: HostEntry, address: WebAddress): boolean {
  return isOf(entry, address, false) && (entry.port === undefined ? address.isDefaultPort : entry.port === address.port)
}

export function entryDenies(entry: HostEntry, address: WebAddress): boolean {
  return isOf(entry, address, true) && (entry.port === undefined || entry.port === address.port)
}

/** Reports whether an entry names exactly that host and port. Only such an entry allows a private address. */
export function entryOpensPrivate(entry: HostEntry, address: WebAddress): boolean {
  return !entry.subdomainsOnly && entry.host !== undefined && entry.port !== undefined && entryAllows(entry, address)
}

/** Reports whether an entry is about the host, whatever the port and scheme. */
export function isAboutHost(entry: HostEntry, host: string, withItself = false): boolean {
  if (entry.host === undefined) return true
  if (!entry.subdomainsOnly) return entry.host === host
  return host.endsWith(`.${entry.host}`) || (withItself && host === entry.host)
}

function isOf(entry: HostEntry, address: WebAddress, withItself: boolean): boolean {
  return (entry.scheme === undefined || entry.scheme === address.scheme) && isAboutHost(entry, address.host, withItself)
}

function readEntry({ text, source }: HostLine, list: "allow" | "deny"): HostEntry | { mistake: string } {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*?)\/?$/is.exec(text.trim()) ?? []
  const withScheme = scheme === undefined ? {} : { scheme: scheme.toLowerCase() as "http" | "https" }
  if (rest === "") return { mistake: "is empty" }
  if (/[/?#\\@\s]/.test(rest)) return { mistake: "must be a host with an optional port, and nothing else" }
  if (rest === "*") return { source, text, subdomainsOnly: false, ...withScheme }
  const subdomainsOnly = rest.startsWith("*.")
  const named = subdomainsOnly ? rest.slice(2) : rest
  if (named.includes("*")) return { mistake: "has a '*' that is not at its beginning before a dot, like *.example.com" }
  const address = readWebAddress(`${scheme ?? "https"}://${named}`)
  if ("problem" in address) return { mistake: "cannot be read as a host" }
  if (subdomainsOnly && address.kind !== undefined) return { mistake: "has a '*' before an IP address" }
  if (subdomainsOnly && list === "allow" && !address.host.includes("."))
    return { mistake: "matches hosts that anyone can register; name more of the host" }
  const port = /:(\d+)$/.exec(named)?.[1]
  return {
    source,
    text,
    host: address.host,
    subdomainsOnly,
    ...withScheme,
    ...(port === undefined ? {} : { port: Number(port) }),
  }
}

/** Reports whether a name means this machine or a private network, whatever address it resolves to. */
export function isPrivateName(host: string): boolean {
  return !host.includes(".") || privateEndings.some((ending) => host === ending || host.endsWith(`.${ending}`))
}

const privateEndings = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "lan",
  "home.arpa",
  "intranet",
  "corp",
  "home",
  "svc",
]

/** Names of the metadata services where clouds provide a machine's keys. */
export function isMetadataName(host: string): boolean {
  return metadataNames.includes(host)
}

const metadataNames = [
  "metadata.google.internal",
  "metadata",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]

/** Reports whether a host means this machine, by address or by name. */
export function isThisMachine(host: string): boolean {
  if (/(^|\.)(localhost|localdomain)$/.test(host) || host === "ip6-localhost" || host === "ip6-loopback") return true
  return addressKind(host) === "here"
}
