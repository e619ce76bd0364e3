import { STATUS_CODES } from "node:http"
import type { Readable } from "node:stream"
import type { Agent, Dispatcher } from "undici"
import { failure } from "../../core/ending.ts"
import type { Web, WebResponse, WebRequest } from "./web-access.ts"
import { hostLists, type HostJudgement, type HostOptions } from "../../guards/hosts/host-lists.ts"
import { readWebAddress, type WebAddress } from "../../guards/hosts/web-address.ts"
import { readResponseBody } from "./response-body.ts"
import { checkedConnect, lookupAll, type HostLookup } from "./connect.ts"
import { startDeadline, type Deadline } from "./deadline.ts"
import { hostDenied, requestFailure } from "./failures.ts"
import { responseHeaders, requestHeaders } from "./headers.ts"
import { makeHostThrottle, type HostThrottle, type ThrottleOptions } from "./throttle.ts"
import { isFollowed, nextHop, redirectOf, watchHops, type Hop } from "./redirects.ts"

export interface WebOptions extends HostOptions {
  /** Looks up host names; by the system if left out. */
  readonly lookup?: HostLookup
  readonly throttle?: ThrottleOptions
  /** A certificate authority to trust besides the usual ones. */
  readonly ca?: string
  /** Time that a server may send nothing, before its response and within it. */
  readonly silenceMs?: number
}

export interface OpenWeb extends Web {
  /** A separate `Web` that may also reach this address from the configuration, which may be private. */
  trusting(address: string): Web
  close(): Promise<void>
}

const defaultMaxBytes = 10 * 1024 * 1024
const defaultTimeoutMs = 60_000
const connectMs = 10_000

/**
 * Sends requests to hosts that the host lists allow. Opens nothing before the first request, uses no proxy from the
 * environment and stores no cookies.
 */
export function openWeb(options: WebOptions): OpenWeb {
  const throttle = makeHostThrottle(options.throttle ?? { burst: 60, perSecond: 2 })
  const plain = webOf(options, throttle, undefined)
  const trusting: (Web & { close(): Promise<void> })[] = []
  return {
    send: (request) => plain.send(request),
    trusting(address) {
      const web = webOf(options, throttle, address)
      trusting.push(web)
      return web
    },
    async close() {
      await Promise.all([plain, ...trusting].map((web) => web.close()))
    },
  }
}

function webOf(
  options: WebOptions,
  throttle: HostThrottle,
  trusted: string | undefined,
): Web & { close(): Promise<void> } {
  const lists = hostLists(options)
  const origin = trusted === undefined ? undefined : originOf(trusted)
  const isConfigured = ({ url }: WebAddress) => url.origin === origin
  let opened: Promise<{ agent: Agent; request: typeof import("undici").request }> | undefined
  let closed = false

  return {
    async send(request) {
      let hop = firstHop(request, reachable(judge(request.url)))
      const deadline = startDeadline(request.timeoutMs ?? defaultTimeoutMs, request.signal)
      const check = watchHops()
      try {
        for (;;) {
          check(hop)
          await throttle.waitTurn(hop.address.host, deadline.signal)
          const received = await sendOnce(hop, request, deadline)
          if ("response" in received) return received.response
          hop = nextHop(hop, received.status, received.to)
        }
      } catch (error) {
        throw deadline.errorFor(hop.address) ?? requestFailure(error, hop.address)
      } finally {
        deadline.clear()
      }
    },
    async close() {
      closed = true
      await (await opened)?.agent.destroy()
    },
  }

  function judge(url: string): HostJudgement {
    const address = readWebAddress(url)
    return lists.judge(url, "url" in address && isConfigured(address))
  }

  async function sendOnce(
    hop: Hop,
    request: WebRequest,
    deadline: Deadline,
  ): Promise<{ response: WebResponse } | { status: number; to: WebAddress }> {
    const { headers: raw, statusCode: status, statusText, body } = await dispatch(hop, deadline.signal)
    // Readers get the error themselves. A body that is discarded has no reader, and an unhandled error would crash.
    body.on("error", () => undefined)
    const headers = responseHeaders(raw)
    const target = redirectOf({ status, headers }, hop.address)
    const to = target === undefined ? undefined : followed(request.redirects, hop.address, judge(target.href), body)
    if (to !== undefined) {
      await body.dump({ limit: 65_536 }).catch(() => undefined)
      return { status, to }
    }
    const limits = { maxBytes: request.maxBytes ?? defaultMaxBytes, onReceived: deadline.onReceived }
    const { bytes, truncated } = await readResponseBody(body, headers["content-encoding"], limits)
    const fields = { status, statusText: statusText || (STATUS_CODES[status] ?? ""), headers, bytes, truncated }
    const redirect = target === undefined ? {} : { redirect: target.href }
    return { response: { ...fields, url: hop.address.url.href, ...redirect } }
  }

  async function dispatch(
    { address, method, headers, body }: Hop,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    if (closed) throw failure("Quartermaster is closing, so the request was not sent.", { toolCode: "request_failed" })
    opened ??= openAgent()
    const { agent, request } = await opened
    return request(address.url, {
      dispatcher: agent,
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers },
      body: body ?? null,
      signal,
    })
  }

  async function openAgent() {
    const { Agent, buildConnector, request } = await import("undici")
    const connect = checkedConnect(buildConnector, {
      lists,
      lookup: options.lookup ?? lookupAll,
      isConfigured,
      ca: options.ca,
      timeoutMs: connectMs,
    })
    const silence = options.silenceMs ?? 30_000
    const agent = new Agent({
      connect,
      connections: 8,
      headersTimeout: silence,
      bodyTimeout: silence,
      keepAliveTimeout: 4000,
    })
    return { agent, request }
  }
}

/** The target of the redirect if it is followed. */
function followed(
  mode: WebRequest["redirects"],
  from: WebAddress,
  to: HostJudgement,
  body: Readable,
): WebAddress | undefined {
  try {
    return isFollowed(mode ?? "same-host", from, to) ? to.address : undefined
  } catch (error) {
    body.destroy()
    throw error
  }
}

function reachable({ verdict, reason, address }: HostJudgement): WebAddress {
  if (verdict === "deny" || address === undefined) throw hostDenied(reason.sentence)
  return address
}

function firstHop({ method, headers, body }: WebRequest, address: WebAddress): Hop {
  return { address, method: method ?? "GET", headers: requestHeaders(headers ?? {}), body }
}

function originOf(url: string): string | undefined {
  const address = readWebAddress(url)
  return "problem" in address ? undefined : address.url.origin
}
