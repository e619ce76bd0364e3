import { lookup as systemLookup } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"
import { networkInterfaces } from "node:os"
import type { buildConnector } from "undici"
import type { HostLists } from "../../policy/hosts-lists.ts"
import { readWebAddress, type WebAddress } from "../../policy/hosts-reading.ts"
import { hostDenied } from "./failures.ts"

export interface Found {
  readonly address: string
  readonly family: number
}

/** All addresses a name leads to. */
export type Lookup = (host: string) => Promise<readonly Found[]>

export const lookupAll: Lookup = (host) => systemLookup(host, { all: true, verbatim: true })

export interface ConnectOptions {
  readonly lists: HostLists
  readonly lookup: Lookup
  isConfigured(address: WebAddress): boolean
  readonly ca?: string | undefined
  readonly timeoutMs: number
}

/**
 * Connects to what a host leads to, if every address it leads to may be reached; and to one of those, so that another
 * answer of the name server a moment later changes nothing.
 */
export function checkedConnect(build: typeof buildConnector, options: ConnectOptions): buildConnector.connector {
  const { lists, ca, timeoutMs } = options
  const settings = { timeout: timeoutMs, autoSelectFamily: true, ...(ca === undefined ? {} : { ca }) }
  return (target, callback) => void begin(target, callback)

  async function begin(target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    let found: readonly Found[]
    try {
      found = await checked(target)
    } catch (error) {
      return callback(error as Error, null)
    }
    build({ ...settings, lookup: pinned(found) } as buildConnector.BuildOptions)(target, callback)
  }

  async function checked({ hostname, protocol, port }: buildConnector.Options): Promise<readonly Found[]> {
    const address = readWebAddress(
      `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}${port === "" ? "" : `:${port}`}`,
    )
    if ("problem" in address) throw hostDenied(address.problem)
    const plain = hostname.replace(/^\[|\]$/g, "")
    const found = isIP(plain) === 0 ? await options.lookup(plain) : [{ address: plain, family: isIP(plain) }]
    for (const one of found) {
      const about = { configured: options.isConfigured(address), ofThisMachine: isOfThisMachine(one.address) }
      const refused = lists.refused(address, one.address, about)
      if (refused !== undefined) throw hostDenied(refused)
    }
    return found
  }
}

function pinned(found: readonly Found[]): LookupFunction {
  return (host, { all }, callback) => {
    const [first] = found
    if (first === undefined)
      return callback(Object.assign(new Error(`${host} leads nowhere.`), { code: "ENOTFOUND" }), [])
    if (all === true) return callback(null, [...found])
    return callback(null, first.address, first.family)
  }
}

function isOfThisMachine(ip: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === ip))
}
