import { connect as connectSocket, isIP, type Socket } from "node:net"
import { failure } from "../../core/ending.ts"
import type { ConnectTarget } from "../module-runtime.ts"
import { hostLists, type HostLists, type HostOptions } from "../../guards/hosts/host-lists.ts"
import { readWebAddress, type WebAddress } from "../../guards/hosts/web-address.ts"
import { checkedAddresses, lookupAll, pinned, type HostLookup, type ResolvedAddress } from "./connect.ts"
import { hostDenied, requestFailure } from "./failures.ts"

const connectMs = 10_000

/**
 * Connects for a module to what the host lists allow: the same lists, and the same check of every resolved address, as for
 * requests of tools. What a person would be asked about is refused unless a call was decided on it.
 */
export function guardedConnect(
  options: HostOptions & { readonly lookup?: HostLookup },
): (target: ConnectTarget) => Promise<Socket> {
  const lists = hostLists(options)
  const lookup = options.lookup ?? lookupAll
  return async (target) => {
    target.signal?.throwIfAborted()
    const { address, found } = await firstAllowed(target, lists, lookup)
    return opened(target, address, found)
  }
}

interface Reachable {
  readonly address: WebAddress
  readonly found: readonly ResolvedAddress[]
}

/** The address under the first scheme that is allowed. If none is, the refusal of the first. */
async function firstAllowed(target: ConnectTarget, lists: HostLists, lookup: HostLookup): Promise<Reachable> {
  const schemes = schemesOf(target)
  for (const [place, scheme] of schemes.entries()) {
    try {
      const address = judged(target, scheme, lists)
      return { address, found: await checkedAddresses(address, { lists, lookup, configured: false }) }
    } catch (error) {
      const isRefusal = (error as { toolCode?: unknown }).toolCode === "host_denied"
      if (isRefusal && place < schemes.length - 1) continue
      throw isRefusal ? error : requestFailure(error, readable(target, scheme))
    }
  }
  throw hostDenied(`${target.host} cannot be reached.`)
}

function schemesOf({ scheme, port }: ConnectTarget): readonly ("http" | "https")[] {
  if (scheme !== undefined) return [scheme]
  return port === 443 ? ["https"] : port === 80 ? ["http"] : ["https", "http"]
}

function judged(target: ConnectTarget, scheme: "http" | "https", lists: HostLists): WebAddress {
  const { verdict, reason, address } = lists.judge(textOf(target, scheme))
  if (verdict === "deny" || address === undefined) throw hostDenied(reason.sentence)
  if (verdict === "ask" && target.decided !== true) {
    throw hostDenied(`${reason.sentence} Nobody was asked about ${address.host}:${address.port}; go there by a call.`)
  }
  if (verdict === "open" && target.listedOnly === true && target.decided !== true) {
    throw hostDenied(`${reason.sentence} Go there by a call, or have a person add it to tools.hosts.allow.`)
  }
  return address
}

function readable(target: ConnectTarget, scheme: "http" | "https"): WebAddress {
  const address = readWebAddress(textOf(target, scheme))
  if ("problem" in address) throw hostDenied(address.problem)
  return address
}

function textOf({ host, port }: ConnectTarget, scheme: "http" | "https"): string {
  return `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function opened({ signal }: ConnectTarget, address: WebAddress, found: readonly ResolvedAddress[]): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { host, port } = address
    const socket = connectSocket({ host, port, lookup: pinned(found), autoSelectFamily: true })
    const end = (error: unknown) => {
      socket.destroy()
      reject(requestFailure(error, address))
    }
    const onAbort = () => end(failure("The connection was given up.", { toolCode: "request_failed" }))
    signal?.addEventListener("abort", onAbort, { once: true })
    socket.setTimeout(connectMs, () => end(Object.assign(new Error("too late"), { code: "ETIMEDOUT" })))
    socket.once("error", end)
    socket.once("connect", () => {
      signal?.removeEventListener("abort", onAbort)
      socket.setTimeout(0)
      socket.off("error", end)
      resolve(socket)
    })
  })
}
