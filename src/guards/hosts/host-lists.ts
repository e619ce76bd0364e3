import type { Reason } from "../../core/reason.ts"
import { addressKind, normalIp } from "./ip-address.ts"
import {
  entryAllows,
  entryDenies,
  isAboutHost,
  isThisMachine,
  isMetadataName,
  isPrivateName,
  entryOpensPrivate,
  readHostLines,
  type HostEntry,
  type HostLine,
} from "./host-entries.ts"
import { readWebAddress, type UnreadableAddress, type WebAddress } from "./web-address.ts"

export interface HostOptions {
  /** `tools.hosts.allow`, each line with its place in the configuration. */
  readonly allow: readonly HostLine[]
  readonly deny: readonly HostLine[]
  /** The addresses that Quartermaster itself listens on now, such as `http://127.0.0.1:7420`. No list allows them. */
  own(): readonly string[]
}

/** `open` means that no list mentions the host: the tool's level and the rules decide. */
export interface HostJudgement {
  readonly verdict: "deny" | "ask" | "allow" | "open"
  readonly reason: Reason
  /** Undefined when the address is invalid. */
  readonly address?: WebAddress
}

/**
 * Judges addresses by the host lists. The guard uses it before a call, `platform/web` again at each redirect and
 * connection.
 */
export interface HostLists {
  /** A `configured` address comes from the configuration, so it may be private and have any port. */
  judge(what: string, configured?: boolean): HostJudgement
  /** Why a connection to that IP address is refused for that host; undefined when it is allowed. */
  refused(
    address: WebAddress,
    ip: string,
    options?: { configured?: boolean; ofThisMachine?: boolean },
  ): string | undefined
}

export function hostLists(options: HostOptions): HostLists {
  const allow = readHostLines(options.allow, "allow")
  const deny = readHostLines(options.deny, "deny")
  const own = readOwnAddresses(options.own)

  return {
    judge(what, configured = false) {
      const address = readWebAddress(what)
      if ("problem" in address)
        return {
          verdict: "deny",
          reason: { check: "guard", source: "hosts", code: "address_unreadable", sentence: address.problem },
        }
      const denied = denial(address, configured)
      if (denied !== undefined) return { verdict: "deny", reason: denied, address }
      const entry = allow.find((line) => entryAllows(line, address))
      if (entry !== undefined)
        return {
          verdict: "allow",
          reason: reasonOf(entry.source, "host_allowed", address.host, onTheList(address, entry)),
          address,
        }
      const askReason = configured ? undefined : askReasonOf(address, allow)
      if (askReason !== undefined) return { verdict: "ask", reason: askReason, address }
      const { host } = address
      return {
        verdict: "open",
        reason: reasonOf("hosts", "host_unlisted", host, `${host} is on no list of hosts.`),
        address,
      }
    },

    refused(address, ip, { configured = false, ofThisMachine = false } = {}) {
      const kind = addressKind(ip)
      const here = kind === "here" || ofThisMachine
      if (own().some(({ port, host }) => port === address.port && (here || host === normalIp(ip))))
        return `${named(address, ip)}, where Quartermaster itself answers. No tool reaches it.`
      const line = deny.find(
        ({ host, subdomainsOnly }) => host !== undefined && !subdomainsOnly && host === normalIp(ip),
      )
      if (line !== undefined) return `${named(address, ip)}, which ${line.source} denies.`
      if (kind === "public") return undefined
      if (kind === "metadata") return `${named(address, ip)}, ${meanings.metadata}. No tool reaches it.`
      if (configured || isOpened(address)) return undefined
      return `${named(address, ip)}, ${meanings[kind]}. ${howToOpen(address)}`
    },
  }

  function isOpened(address: WebAddress): boolean {
    return allow.some((line) => entryOpensPrivate(line, address))
  }

  function denial(address: WebAddress, configured: boolean): Reason | undefined {
    const { host, kind } = address
    if (own().some((ownAddress) => isSame(ownAddress, address)))
      return reasonOf(
        "own addresses",
        "host_own",
        withPort(address),
        `${withPort(address)} is where Quartermaster itself answers. No tool reaches it.`,
      )
    const line = deny.find((entry) => entryDenies(entry, address))
    if (line !== undefined)
      return reasonOf(line.source, "host_denied", host, `${host} is on the list of denied hosts (${line.text}).`)
    if (kind === "metadata" || isMetadataName(host))
      return reasonOf("addresses", "host_metadata", host, `${host} is ${meanings.metadata}. No tool reaches it.`)
    const meaning = kind === undefined ? (isPrivateName(host) ? privateNameMeaning(host) : undefined) : meanings[kind]
    if (meaning === undefined || configured || isOpened(address)) return undefined
    return reasonOf("addresses", "host_private", host, `${host} is ${meaning}. ${howToOpen(address)}`)
  }
}

const meanings = {
  public: undefined,
  here: "an address of this machine",
  private: "an address of a private network",
  metadata: "a link-local address, where clouds provide the keys of a machine",
  special: "an address that belongs to no machine on the internet",
} as const

function privateNameMeaning(host: string): string {
  return isThisMachine(host) ? "a name of this machine" : "a name of a private network"
}

function howToOpen(address: WebAddress): string {
  return `To allow it, a person adds it to tools.hosts.allow with its port: ${JSON.stringify(withPort(address))}.`
}

/** Why a person is asked about the port or scheme; rules see only the host and cannot allow that. */
function askReasonOf(address: WebAddress, allow: readonly HostEntry[]): Reason | undefined {
  const { host, port, scheme, isDefaultPort } = address
  const listed = allow.find((line) => isAboutHost(line, host))
  const source = listed?.source ?? "hosts"
  if (!isDefaultPort) {
    const prefix = listed === undefined ? "" : `${host} is allowed (${listed.text}), but `
    const sentence = `${prefix}${port} is not the port of ${scheme}; ${host}:${port} could be any service.`
    return reasonOf(source, "port_unusual", withPort(address), sentence)
  }
  if (scheme === "http")
    return reasonOf(
      source,
      "host_unencrypted",
      host,
      `Data sent to ${host} is not encrypted (http). Use https if the host supports it.`,
    )
  return undefined
}

function onTheList({ host }: WebAddress, { text }: HostEntry): string {
  return text === host
    ? `${host} is on the list of allowed hosts.`
    : `${host} is on the list of allowed hosts (${text}).`
}

function reasonOf(source: string, code: string, host: string, sentence: string): Reason {
  return { check: "guard", source, code, params: { host }, sentence }
}

function withPort({ host, port }: WebAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}

function named({ host }: WebAddress, ip: string): string {
  return host === normalIp(ip) ? `${host} is refused: it is ${ip}` : `${host} leads to ${ip}`
}

/** Reports whether two addresses mean the same server. All names and addresses of this machine are the same. */
function isSame(a: WebAddress, b: WebAddress): boolean {
  return a.port === b.port && (a.host === b.host || (isThisMachine(a.host) && isThisMachine(b.host)))
}

function readOwnAddresses(own: () => readonly string[]): () => readonly WebAddress[] {
  const known = new Map<string, WebAddress | UnreadableAddress>()
  const read = (text: string) => {
    let address = known.get(text)
    if (address === undefined) known.set(text, (address = readWebAddress(text)))
    return address
  }
  return () =>
    own()
      .map(read)
      .filter((address): address is WebAddress => !("problem" in address))
}
