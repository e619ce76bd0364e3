import { SdkHttpError, type PriorDiscovery } from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../core/mcp.ts"
import type { ConnectionHost, Offer } from "./connection-types.ts"
import { failureReason } from "./explain-failure.ts"
import { ConnectFailed } from "./connection-errors.ts"
import { ServerSession, type ServerSessionEvents } from "./server-session.ts"
import { transportKindOf, type TransportKind } from "./server-spec.ts"
import { createChannel } from "./server-channel.ts"

/** The transport and protocol by which a server was reached, so that they need not be probed again. */
export interface KnownProtocol {
  readonly kind: TransportKind
  readonly prior: PriorDiscovery
}

export interface OpenedSession {
  readonly session: ServerSession
  readonly offer: Offer
}

export interface OpenSessionOptions {
  readonly spec: McpServerSpec
  readonly host: ConnectionHost
  readonly timeoutMs: number
  readonly events: ServerSessionEvents
  /** Aborted when the connection is closed. */
  readonly signal: AbortSignal
  onFlood(): void
  /** Called with the closing of a session that failed to open. */
  onClosing(closing: Promise<void>): void
}

/**
 * Connects, initializes and fetches what the server offers. A plain URL is tried with streamable HTTP, then with SSE. A
 * child process that exits at the newer protocol's first message is started again with the older protocol.
 */
export async function openServerSession(
  options: OpenSessionOptions,
  known: KnownProtocol | undefined,
): Promise<OpenedSession> {
  const { spec } = options
  const kind = known?.kind ?? transportKindOf(spec)
  const found = known?.prior ?? (kind === "sse" ? legacyProtocol : undefined)
  const prior = spec.protocol === undefined ? found : undefined
  try {
    return await open(options, kind, prior)
  } catch (error) {
    if (!(error instanceof ConnectFailed) || options.signal.aborted) throw error
    if (kind === "stdio" && prior === undefined && spec.protocol === undefined && error.exited)
      return open(options, "stdio", legacyProtocol)
    if (kind !== "http" || spec.transport !== undefined || !isRefusal(error.cause)) throw error
    return await open(options, "sse", legacyProtocol).catch(() => Promise.reject(error))
  }
}

const legacyProtocol: PriorDiscovery = { kind: "legacy" }

async function open(
  options: OpenSessionOptions,
  kind: TransportKind,
  prior: PriorDiscovery | undefined,
): Promise<OpenedSession> {
  const { spec, host, events, timeoutMs } = options
  const channel = createChannel(spec, kind, host.workspace, () => options.onFlood(), host.access)
  const session = new ServerSession(channel, spec, host, events)
  try {
    return await within(timeoutMs, options.signal, async () => {
      await session.open(prior, timeoutMs)
      const offer = await session.offer(timeoutMs)
      if (session.end !== undefined) throw new Error(session.end)
      return { session, offer }
    })
  } catch (error) {
    const end = channel.child?.end
    const signIn = host.access?.problemIn(error)
    const why = end ?? signIn ?? (error === timedOut ? tooSlow(spec, timeoutMs) : notConnected(error))
    options.onClosing(session.close())
    throw new ConnectFailed(why, {
      printed: channel.child?.printed ?? "",
      exited: end !== undefined && channel.child?.wasStarted === true,
      needsSignIn: signIn !== undefined,
      cause: error,
    })
  }
}

/** `npx` and `uvx` download a package when it is started first. */
function tooSlow({ command = "" }: McpServerSpec, timeoutMs: number): string {
  const downloads = /(^|[/\\])(npx|uvx|bunx|pnpx)(\.cmd)?$/.test(command)
  const why = downloads ? "; the first start downloads it, so try once more" : ""
  return `did not finish initializing within ${timeoutMs / 1000} s${why}`
}

function notConnected(error: unknown): string {
  return error instanceof Error && error.message.startsWith("offers more than")
    ? error.message
    : `is not connected: ${failureReason(error)}`
}

/** The HTTP statuses after which a client tries SSE. */
function isRefusal(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406, 415].includes(error.data.status)
}

const timedOut = new Error("took too long")

async function within<T>(milliseconds: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let end = () => {}
  const timeout = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(timedOut), milliseconds)
    const stop = () => reject(new Error("the connection was closed"))
    end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
    }
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([work(), timeout])
  } finally {
    end()
  }
}
