import type { Reason } from "../model/record.ts"
import { addressKind, normalIp } from "./hosts-addresses.ts"
import {
  allows,
  denies,
  isAboutHost,
  isHere,
  isMetadataName,
  isPrivateName,
  opens,
  readHostLines,
} from "./hosts-entries.ts"
import type { HostEntry, HostLine } from "./hosts-entries.ts"
import { readWebAddress, type Unreadable, type WebAddress } from "./hosts-reading.ts"

export interface HostOptions {
  /** `tools.hosts.allow`, each line with its place there. */
  readonly allow: readonly HostLine[]
  readonly deny: readonly HostLine[]
  /** Our own addresses, with their ports, as they are now: `http://127.0.0.1:7420`. Nothing opens them. */
  own(): readonly string[]
}

/** *open* means that the lists have nothing to say: the tool's level and the rules decide. */
export interface HostJudgement {
  readonly says: "deny" | "ask" | "allow" | "open"
  readonly reason: Reason
  /** Undefined for what cannot be read. */
  readonly address?: WebAddress | undefined
}

/** The lists of hosts. Pure but for `own`; the guard asks before a call, the web again at each hop and connection. */
export interface HostLists {
  /** `configured` is said of an address that stands in the configuration: it may be private, and have any port. */
  judge(what: string, configured?: boolean): HostJudgement
  /** Why nothing is connected to that IP address for that host; undefined when it may be. */
  refused(
    address: WebAddress,
    ip: string,
    options?: { configured?: boolean; ofThisMachine?: boolean },
  ): string | undefined
}

export function hostLists(options: HostOptions): HostLists {
  const allow = readHostLines(options.allow, "allow")
  const deny = readHostLines(options.deny, "deny")
  const own = rememberOwn(options.own)

  return {
    judge(what, configured = false) {
      const address = readWebAddress(what)
      if ("problem" in address) return { says: "deny", reason: reasonOf("hosts", address.problem) }
      const denied = denial(address, configured)
      if (denied !== undefined) return { says: "deny", reason: denied, address }
      const entry = allow.find((one) => allows(one, address))
      if (entry !== undefined)
        return { says: "allow", reason: reasonOf(entry.source, onTheList(address, entry)), address }
      const doubt = configured ? undefined : doubtOf(address, allow)
      if (doubt !== undefined) return { says: "ask", reason: doubt, address }
      return { says: "open", reason: reasonOf("hosts", `${address.host} is on no list of hosts.`), address }
    },

    refused(address, ip, { configured = false, ofThisMachine = false } = {}) {
      const kind = addressKind(ip)
      const here = kind === "here" || ofThisMachine
      if (own().some((one) => one.port === address.port && (here || one.host === normalIp(ip))))
        return `${named(address, ip)}, where Quartermaster itself answers. No tool reaches it.`
      const line = deny.find((one) => one.host !== undefined && !one.below && one.host === normalIp(ip))
      if (line !== undefined) return `${named(address, ip)}, which ${line.source} denies.`
      if (kind === "public") return undefined
      if (kind === "metadata") return `${named(address, ip)}, ${meanings.metadata}. No tool reaches it.`
      if (configured || isOpened(address)) return undefined
      return `${named(address, ip)}, ${meanings[kind]}. ${howToOpen(address)}`
    },
  }

  function isOpened(address: WebAddress): boolean {
    return allow.some((one) => opens(one, address))
  }

  function denial(address: WebAddress, configured: boolean): Reason | undefined {
    const { host, kind } = address
    if (own().some((one) => isSame(one, address)))
      return reasonOf(
        "own addresses",
        `${withPort(address)} is where Quartermaster itself answers. No tool reaches it.`,
      )
    const line = deny.find((one) => denies(one, address))
    if (line !== undefined) return reasonOf(line.source, `${host} is on the list of denied hosts (${line.text}).`)
    if (kind === "metadata" || isMetadataName(host))
      return reasonOf("addresses", `${host} is ${meanings.metadata}. No tool reaches it.`)
    const meaning = kind === undefined ? (isPrivateName(host) ? privateNameMeaning(host) : undefined) : meanings[kind]
    if (meaning === undefined || configured || isOpened(address)) return undefined
    return reasonOf("addresses", `${host} is ${meaning}. ${howToOpen(address)}`)
  }
}

const meanings = {
  public: undefined,
  here: "an address of this machine",
  private: "an address of a private network",
  metadata: "a link-local address, where clouds keep the keys of a machine",
  special: "an address of no machine on the internet",
} as const

function privateNameMeaning(host: string): string {
  return isHere(host) ? "a name of this machine" : "a name of a private network"
}

function howToOpen(address: WebAddress): string {
  return `If a person wants it reached, tools.hosts.allow must name it with its port: ${JSON.stringify(withPort(address))}.`
}

/** What only a person lifts, because rules look at the host alone. */
function doubtOf(address: WebAddress, allow: readonly HostEntry[]): Reason | undefined {
  const { host, port, scheme, isDefaultPort } = address
  const listed = allow.find((one) => isAboutHost(one, host))
  const source = listed?.source ?? "hosts"
  if (!isDefaultPort) {
    const although = listed === undefined ? "" : `${host} is allowed (${listed.text}), but `
    return reasonOf(source, `${although}${port} is not the port of ${scheme}; ${host}:${port} could be anything.`)
  }
  if (scheme === "http")
    return reasonOf(source, `What is sent to ${host} is not encrypted (http). Use https if it can.`)
  return undefined
}

function onTheList({ host }: WebAddress, { text }: HostEntry): string {
  return text === host
    ? `${host} is on the list of allowed hosts.`
    : `${host} is on the list of allowed hosts (${text}).`
}

function reasonOf(source: string, sentence: string): Reason {
  return { voice: "guard", source, sentence }
}

function withPort({ host, port }: WebAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}

function named({ host }: WebAddress, ip: string): string {
  return host === normalIp(ip) ? `${host} is refused: it is ${ip}` : `${host} leads to ${ip}`
}

/** On this machine every name and number of it is the same place. */
function isSame(one: WebAddress, other: WebAddress): boolean {
  return one.port === other.port && (one.host === other.host || (isHere(one.host) && isHere(other.host)))
}

function rememberOwn(own: () => readonly string[]): () => readonly WebAddress[] {
  const known = new Map<string, WebAddress | Unreadable>()
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
