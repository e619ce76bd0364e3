import { SdkHttpError, type PriorDiscovery } from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../../model/mcp.ts"
import type { ConnectionHost, Offer } from "./exchange.ts"
import { reasonOf } from "./endings.ts"
import { NotOpened } from "./failed.ts"
import { Session, type SessionEvents } from "./session.ts"
import { kindOf, type TransportKind } from "./spec.ts"
import { wayTo } from "./transports.ts"

/** By which way and in which protocol a server was reached, so that it need not be asked again. */
export interface Verdict {
  readonly kind: TransportKind
  readonly prior: PriorDiscovery
}

export interface Opened {
  readonly session: Session
  readonly offer: Offer
}

/** What an attempt needs. */
export interface Opening {
  readonly spec: McpServerSpec
  readonly host: ConnectionHost
  readonly timeoutMs: number
  readonly events: SessionEvents
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal
  onFlood(): void
  /** What is still to be put away after it failed. */
  onClosing(closing: Promise<void>): void
}

/**
 * Connects, greets and asks for everything that is offered. A plain url is tried by streamable HTTP and by SSE where
 * that is refused. A child that dies of the newer protocol's first question is started again and greeted the old way.
 */
export async function openServer(opening: Opening, known: Verdict | undefined): Promise<Opened> {
  const { spec } = opening
  const kind = known?.kind ?? kindOf(spec)
  const prior = known?.prior ?? (kind === "sse" ? oldWay : undefined)
  try {
    return await open(opening, kind, prior)
  } catch (error) {
    if (!(error instanceof NotOpened) || opening.signal.aborted) throw error
    if (kind === "stdio" && prior === undefined && error.died) return open(opening, "stdio", oldWay)
    if (kind !== "http" || spec.transport !== undefined || !isRefusal(error.cause)) throw error
    return await open(opening, "sse", oldWay).catch(() => Promise.reject(error))
  }
}

const oldWay: PriorDiscovery = { kind: "legacy" }

async function open(opening: Opening, kind: TransportKind, prior: PriorDiscovery | undefined): Promise<Opened> {
  const { spec, host, events, timeoutMs } = opening
  const way = wayTo(spec, kind, host.workspace, () => opening.onFlood(), host.access)
  const session = new Session(way, spec, host, events)
  try {
    return await within(timeoutMs, opening.signal, async () => {
      await session.open(prior, timeoutMs)
      const offer = await session.offer(timeoutMs)
      if (session.end !== undefined) throw new Error(session.end)
      return { session, offer }
    })
  } catch (error) {
    const end = way.child?.end
    const signIn = host.access?.problemIn(error)
    const why =
      end ??
      signIn ??
      (error === tookTooLong ? `did not finish its greeting within ${timeoutMs / 1000} s` : notConnected(error))
    opening.onClosing(session.close())
    throw new NotOpened(why, {
      said: way.child?.said ?? "",
      died: end !== undefined && way.child?.wasStarted === true,
      refused: signIn !== undefined,
      cause: error,
    })
  }
}

function notConnected(error: unknown): string {
  return error instanceof Error && error.message.startsWith("offers more than")
    ? error.message
    : `is not connected: ${reasonOf(error)}`
}

/** The answers after which a client tries SSE. */
function isRefusal(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406, 415].includes(error.data.status)
}

const tookTooLong = new Error("took too long")

async function within<T>(milliseconds: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let end = () => {}
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(tookTooLong), milliseconds)
    const stop = () => reject(new Error("nobody wants it any more"))
    end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
    }
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    end()
  }
}
