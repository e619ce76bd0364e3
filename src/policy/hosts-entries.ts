import { addressKind } from "./hosts-addresses.ts"
import { readWebAddress, type WebAddress } from "./hosts-reading.ts"

/** A line of `tools.hosts`, and where it stands. */
export interface HostLine {
  readonly text: string
  readonly source: string
}

/** A line that was read: `docs.example.com`, `*.trusted.example`, `localhost:3000`, `http://old.example`, `*`. */
export interface HostEntry {
  readonly source: string
  readonly text: string
  readonly scheme?: "http" | "https" | undefined
  /** The host itself, or what its hosts end with; undefined for `*`. */
  readonly host?: string | undefined
  /** Means the hosts below it. */
  readonly below: boolean
  readonly port?: number | undefined
}

/** Why a line cannot be meant, in words that go on from it; undefined when it can. */
export function hostLineMistake(text: string, list: "allow" | "deny"): string | undefined {
  const read = readEntry({ text, source: "" }, list)
  return "mistake" in read ? read.mistake : undefined
}

/** Throws for a line that cannot be read: what was meant to be denied must not be let through. */
export function readHostLines(lines: readonly HostLine[], list: "allow" | "deny"): HostEntry[] {
  return lines.map((line) => {
    const read = readEntry(line, list)
    if ("mistake" in read) throw new TypeError(`${line.source} ${JSON.stringify(line.text)} ${read.mistake}.`)
    return read
  })
}

/** An entry that allows means the usual ports unless it names one; one that denies means all. */
export function allows(entry: HostEntry, address: WebAddress): boolean {
  return isOf(entry, address, false) && (entry.port === undefined ? address.isDefaultPort : entry.port === address.port)
}

export function denies(entry: HostEntry, address: WebAddress): boolean {
  return isOf(entry, address, true) && (entry.port === undefined || entry.port === address.port)
}

/** Whether an entry names exactly that host and port: only then does it open what is private. */
export function opens(entry: HostEntry, address: WebAddress): boolean {
  return !entry.below && entry.host !== undefined && entry.port !== undefined && allows(entry, address)
}

/** Whether an entry is about the host, whatever the port and scheme. */
export function isAboutHost(entry: HostEntry, host: string, withItself = false): boolean {
  if (entry.host === undefined) return true
  if (!entry.below) return entry.host === host
  return host.endsWith(`.${entry.host}`) || (withItself && host === entry.host)
}

function isOf(entry: HostEntry, address: WebAddress, withItself: boolean): boolean {
  return (entry.scheme === undefined || entry.scheme === address.scheme) && isAboutHost(entry, address.host, withItself)
}

function readEntry({ text, source }: HostLine, list: "allow" | "deny"): HostEntry | { mistake: string } {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*?)\/?$/is.exec(text.trim()) ?? []
  const given = scheme === undefined ? {} : { scheme: scheme.toLowerCase() as "http" | "https" }
  if (rest === "") return { mistake: "is empty" }
  if (/[/?#\\@\s]/.test(rest)) return { mistake: "must be a host, with a port or without, and nothing else" }
  if (rest === "*") return { source, text, below: false, ...given }
  const below = rest.startsWith("*.")
  const named = below ? rest.slice(2) : rest
  if (named.includes("*")) return { mistake: "has a '*' that is not at its beginning before a dot, like *.example.com" }
  const address = readWebAddress(`${scheme ?? "https"}://${named}`)
  if ("problem" in address) return { mistake: "cannot be read as a host" }
  if (below && address.kind !== undefined) return { mistake: "has a '*' before an IP address" }
  if (below && list === "allow" && !address.host.includes("."))
    return { mistake: "fits hosts that anyone can register; name more of the host" }
  const port = /:(\d+)$/.exec(named)?.[1]
  return { source, text, host: address.host, below, ...given, ...(port === undefined ? {} : { port: Number(port) }) }
}

/** Whether a name means this machine or a network of its owner whatever it leads to. */
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

/** Names under which clouds hand out a machine's keys. */
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

/** Whether an address means this machine, by number or by name. */
export function isHere(host: string): boolean {
  if (/(^|\.)(localhost|localdomain)$/.test(host) || host === "ip6-localhost" || host === "ip6-loopback") return true
  return addressKind(host) === "here"
}
