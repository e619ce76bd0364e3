import { STATUS_CODES } from "node:http"
import type { Readable } from "node:stream"
import type { Agent, Dispatcher } from "undici"
import { failure } from "../../model/ending.ts"
import type { Web, WebAnswer, WebRequest } from "../../model/web.ts"
import { hostLists, type HostJudgement, type HostOptions } from "../../policy/hosts-lists.ts"
import { readWebAddress, type WebAddress } from "../../policy/hosts-reading.ts"
import { readBody } from "./body.ts"
import { checkedConnect, lookupAll, type Lookup } from "./connect.ts"
import { startDeadline, type Deadline } from "./deadline.ts"
import { hostDenied, requestFailure } from "./failures.ts"
import { answerHeaders, requestHeaders } from "./headers.ts"
import { makePace, type Pace, type PaceOptions } from "./pace.ts"
import { isFollowed, nextHop, redirectOf, watchHops, type Hop } from "./redirects.ts"

export interface WebOptions extends HostOptions {
  /** How names are looked up; the system's own way when left out. */
  readonly lookup?: Lookup | undefined
  readonly pace?: PaceOptions | undefined
  /** Certificates to trust besides the usual ones. */
  readonly ca?: string | undefined
  /** How long a server may say nothing, before its answer and within it. */
  readonly silenceMs?: number | undefined
}

export interface OpenWeb extends Web {
  /** A web of its own that may reach one more address, which stands in the configuration and may be private. */
  trusting(address: string): Web
  close(): Promise<void>
}

const usualBytes = 10 * 1024 * 1024
const usualMs = 60_000
const connectMs = 10_000

/**
 * The network behind the lists of hosts. Nothing is opened before the first request, no proxy of the environment is
 * used, and no cookie is kept.
 */
export function openWeb(options: WebOptions): OpenWeb {
  const pace = makePace(options.pace ?? { burst: 60, perSecond: 2 })
  const plain = webOf(options, pace, undefined)
  const others: (Web & { close(): Promise<void> })[] = []
  return {
    send: (request) => plain.send(request),
    trusting(address) {
      const web = webOf(options, pace, address)
      others.push(web)
      return web
    },
    async close() {
      await Promise.all([plain, ...others].map((web) => web.close()))
    },
  }
}

function webOf(options: WebOptions, pace: Pace, trusted: string | undefined): Web & { close(): Promise<void> } {
  const lists = hostLists(options)
  const origin = trusted === undefined ? undefined : originOf(trusted)
  const isConfigured = ({ url }: WebAddress) => url.origin === origin
  let opened: Promise<{ agent: Agent; request: typeof import("undici").request }> | undefined
  let closed = false

  return {
    async send(request) {
      let hop = firstHop(request, reachable(judge(request.url)))
      const deadline = startDeadline(request.timeoutMs ?? usualMs, request.signal)
      const check = watchHops()
      try {
        for (;;) {
          check(hop)
          await pace.turn(hop.address.host, deadline.signal)
          const found = await askOnce(hop, request, deadline)
          if ("answer" in found) return found.answer
          hop = nextHop(hop, found.status, found.to)
        }
      } catch (error) {
        throw deadline.ending(hop.address) ?? requestFailure(error, hop.address)
      } finally {
        deadline.clear()
      }
    },
    async close() {
      closed = true
      await (await opened)?.agent.destroy()
    },
  }

  function judge(what: string): HostJudgement {
    const address = readWebAddress(what)
    return lists.judge(what, "url" in address && isConfigured(address))
  }

  async function askOnce(
    hop: Hop,
    request: WebRequest,
    deadline: Deadline,
  ): Promise<{ answer: WebAnswer } | { status: number; to: WebAddress }> {
    const { headers: raw, statusCode: status, statusText, body } = await ask(hop, deadline.signal)
    // Whoever reads it hears of the error; what is thrown away has nobody to hear it.
    body.on("error", () => undefined)
    const headers = answerHeaders(raw)
    const target = redirectOf({ status, headers }, hop.address)
    const to = target === undefined ? undefined : followed(request.redirects, hop.address, judge(target.href), body)
    if (to !== undefined) {
      await body.dump({ limit: 65_536 }).catch(() => undefined)
      return { status, to }
    }
    const limits = { maxBytes: request.maxBytes ?? usualBytes, came: deadline.came }
    const { bytes, truncated } = await readBody(body, headers["content-encoding"], limits)
    const about = { status, statusText: statusText || (STATUS_CODES[status] ?? ""), headers, bytes, truncated }
    const redirect = target === undefined ? {} : { redirect: target.href }
    return { answer: { ...about, url: hop.address.url.href, ...redirect } }
  }

  async function ask({ address, method, headers, body }: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    if (closed) throw failure("Quartermaster is closing; nothing more is sent.", { toolCode: "request_failed" })
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

/** Where the redirect leads, if it is followed. */
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

function reachable({ says, reason, address }: HostJudgement): WebAddress {
  if (says === "deny" || address === undefined) throw hostDenied(reason.sentence)
  return address
}

function firstHop({ method, headers, body }: WebRequest, address: WebAddress): Hop {
  return { address, method: method ?? "GET", headers: requestHeaders(headers ?? {}), body }
}

function originOf(what: string): string | undefined {
  const address = readWebAddress(what)
  return "problem" in address ? undefined : address.url.origin
}
