import { lookup as systemLookup } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"
import { networkInterfaces } from "node:os"
import type { buildConnector } from "undici"
import type { HostLists } from "../../guards/hosts/host-lists.ts"
import { readWebAddress, type WebAddress } from "../../guards/hosts/web-address.ts"
import { hostDenied } from "./failures.ts"

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All IP addresses of a host name. */
export type HostLookup = (host: string) => Promise<readonly ResolvedAddress[]>

export const lookupAll: HostLookup = (host) => systemLookup(host, { all: true, verbatim: true })

export interface ConnectOptions {
  readonly lists: HostLists
  readonly lookup: HostLookup
  isConfigured(address: WebAddress): boolean
  readonly ca?: string
  readonly timeoutMs: number
}

/**
 * Looks up a host, checks every one of its addresses, and connects to one of exactly these. A different answer of the
 * name server a moment later changes nothing (DNS rebinding).
 */
export function checkedConnect(build: typeof buildConnector, options: ConnectOptions): buildConnector.connector {
  const { lists, ca, timeoutMs } = options
  const settings = { timeout: timeoutMs, autoSelectFamily: true, ...(ca === undefined ? {} : { ca }) }
  return (target, callback) => void begin(target, callback)

  async function begin(target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    let found: readonly ResolvedAddress[]
    try {
      found = await checked(target)
    } catch (error) {
      return callback(error as Error, null)
    }
    build({ ...settings, lookup: pinned(found) } as buildConnector.BuildOptions)(target, callback)
  }

  async function checked({ hostname, protocol, port }: buildConnector.Options): Promise<readonly ResolvedAddress[]> {
    const address = readWebAddress(
      `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}${port === "" ? "" : `:${port}`}`,
    )
    if ("problem" in address) throw hostDenied(address.problem)
    return checkedAddresses(address, { lists, lookup: options.lookup, configured: options.isConfigured(address) })
  }
}

/** All IP addresses of a host, each of them allowed. Throws if one is not. */
export async function checkedAddresses(
  address: WebAddress,
  { lists, lookup, configured }: { lists: HostLists; lookup: HostLookup; configured: boolean },
): Promise<readonly ResolvedAddress[]> {
  const { host } = address
  const found = isIP(host) === 0 ? await lookup(host) : [{ address: host, family: isIP(host) }]
  for (const { address: ip } of found) {
    const refused = lists.refused(address, ip, { configured, ofThisMachine: isOfThisMachine(ip) })
    if (refused !== undefined) throw hostDenied(refused)
  }
  return found
}

/** A lookup that knows these addresses and no others. */
export function pinned(found: readonly ResolvedAddress[]): LookupFunction {
  return (host, { all }, callback) => {
    const [first] = found
    if (first === undefined)
      return callback(Object.assign(new Error(`${host} has no address.`), { code: "ENOTFOUND" }), [])
    if (all === true) return callback(null, [...found])
    return callback(null, first.address, first.family)
  }
}

function isOfThisMachine(ip: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === ip))
}
