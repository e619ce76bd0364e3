import { Ending } from "../core/ending.ts"
import type { McpServerSpec, McpServerState } from "../core/mcp.ts"
import type { ConnectionHost, ConnectionState } from "./connection-types.ts"
import { ConnectFailed, problemText } from "./connection-errors.ts"
import { clientLimits } from "./limits.ts"
import type { OpenedSession, OpenSessionOptions, KnownProtocol } from "./open-session.ts"
import { Recovery } from "./recovery.ts"
import type { ServerSession, ServerSessionEvents } from "./server-session.ts"
import { specProblem, transportKindOf, type TransportKind } from "./server-spec.ts"
import { unlessAborted } from "./unless-aborted.ts"

export interface ReconnectingSessionEvents extends Pick<ServerSessionEvents, "onListChanged"> {
  onConnected(opened: OpenedSession): void
  onFlood(): void
}

/** The session with one server: opened when it is needed, and opened again when it is lost. */
export class ReconnectingSession {
  readonly recovery: Recovery
  readonly timeoutMs: number
  readonly #spec: McpServerSpec
  readonly #host: ConnectionHost
  readonly #events: ReconnectingSessionEvents
  readonly #now: () => number
  readonly #specProblem: string | undefined
  readonly #closing = new AbortController()
  readonly #closingSessions = new Set<Promise<void>>()
  #phase: McpServerState["state"]
  #kind: TransportKind
  #problem: string | undefined
  #session: ServerSession | undefined
  #connectedAt = 0
  #connections = 0
  #attempting: Promise<void> | undefined
  #first: Promise<void> | undefined
  #knownProtocol: (KnownProtocol & { at: number }) | undefined

  constructor(spec: McpServerSpec, host: ConnectionHost, events: ReconnectingSessionEvents) {
    this.#spec = spec
    this.#host = host
    this.#events = events
    this.#now = () => host.now?.() ?? Date.now()
    this.recovery = new Recovery(this.#now, () => void this.#attempt().catch(() => {}))
    this.timeoutMs = spec.connectTimeoutMs ?? clientLimits.connectMs
    this.#kind = transportKindOf(spec)
    this.#specProblem = specProblem(spec)
    this.#phase = !spec.enabled ? "disabled" : this.#specProblem === undefined ? "resting" : "refused"
    if (this.#specProblem !== undefined) this.#problem = `The MCP server ${spec.name} ${this.#specProblem}.`
  }

  get session(): ServerSession | undefined {
    return this.#session
  }

  get state(): ConnectionState {
    return {
      state: this.#phase,
      transport: this.#kind,
      protocolVersion: this.#session?.client.getNegotiatedProtocolVersion(),
      problem: this.#problem,
      restarts: Math.max(0, this.#connections - 1),
      pid: this.#session?.channel.child?.pid,
    }
  }

  /** Connects in the background and stays connected. */
  start(): void {
    if (this.#unusableReason() !== undefined || this.recovery.staysConnected) return
    this.recovery.stayConnected()
    if (this.#session === undefined) this.#attempt().catch(() => {})
  }

  /** Opens a new session after a person signed in or out. Running requests finish in the old one. */
  reconnect(): void {
    if (this.#unusableReason() !== undefined) return
    if (this.#attempting !== undefined) return void this.#attempting.catch(() => {}).then(() => this.reconnect())
    this.recovery.succeeded()
    const session = this.#session
    this.#session = undefined
    session?.closeWhenIdle()
    if (this.recovery.staysConnected) this.#attempt().catch(() => {})
    else this.#setPhase("resting")
  }

  /** Returns the session when connected; throws an Ending *upstream_unavailable* that says why and what to do next. */
  async connect(signal?: AbortSignal): Promise<ServerSession> {
    if (this.#session !== undefined) return this.#session
    const cannot = this.#unusableReason() ?? this.#blockedReason()
    if (cannot !== undefined) throw new Ending("upstream_unavailable", cannot)
    await unlessAborted(this.#attempt(), signal)
    return this.#session ?? this.connect(signal)
  }

  /** Resolves when the first attempt has succeeded or failed. */
  async firstAttempt(): Promise<void> {
    await this.#first
  }

  /** Stops using that session and logs the problem, if there is one. */
  drop(session: ServerSession, problem: string | undefined): void {
    if (session !== this.#session) return
    this.#session = undefined
    this.#problem = problem
    if (problem !== undefined) this.#host.logger.warn(problem)
    this.#waitForRetry()
  }

  /** Makes `close` wait for the closing of an old session. */
  trackClosing(closing: Promise<void>): void {
    const done = closing.catch(() => {}).finally(() => this.#closingSessions.delete(done))
    this.#closingSessions.add(done)
  }

  /** Closes the session. Running requests end, and so does the server's process with all it started. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.recovery.cancelRetry()
    const session = this.#session
    this.#session = undefined
    this.#phase = this.#spec.enabled ? "resting" : "disabled"
    if (session !== undefined) this.trackClosing(session.close())
    await this.#attempting?.catch(() => {})
    await Promise.all(this.#closingSessions)
  }

  #unusableReason(): string | undefined {
    const server = `The MCP server ${this.#spec.name}`
    if (this.#closing.signal.aborted) return `${server} is closed, because Quartermaster is closing.`
    if (!this.#spec.enabled) return `${server} is disabled. Enable it in the configuration to use it.`
    return this.#specProblem === undefined ? undefined : this.#problem
  }

  /** Why nothing is sent to the server now. */
  #blockedReason(): string | undefined {
    const blocked = this.recovery.blockedReason()
    return blocked && `${this.#problem ?? `The MCP server ${this.#spec.name} fails.`} ${blocked}`
  }

  /** Makes one attempt at a time; a caller that comes during one waits for it. */
  #attempt(): Promise<void> {
    if (this.#attempting !== undefined) return this.#attempting
    this.recovery.cancelRetry()
    this.#setPhase("connecting")
    this.#attempting = this.#connect().finally(() => (this.#attempting = undefined))
    this.#first ??= this.#attempting.catch(() => {})
    return this.#attempting
  }

  async #connect(): Promise<void> {
    const known = this.#knownProtocol
    this.#knownProtocol = undefined
    try {
      const { openServerSession } = await import("./open-session.ts")
      this.#onOpened(await openServerSession(this.#openOptions(), this.#isStillValid(known) ? known : undefined))
    } catch (error) {
      if (this.#closing.signal.aborted)
        throw new Ending("upstream_unavailable", this.#unusableReason()!, { cause: error })
      const { message, printed } = error instanceof ConnectFailed ? error : { message: "is not connected", printed: "" }
      this.#problem = problemText(this.#spec.name, message, printed)
      const next = this.#afterFailure(error)
      throw new Ending("upstream_unavailable", `${this.#problem.split("\n")[0]} ${next}`, { cause: error })
    }
  }

  /** A server that requires signing in is not retried. */
  #afterFailure(error: unknown): string {
    if (!(error instanceof ConnectFailed && error.needsSignIn)) {
      this.recovery.failed()
      return this.#waitForRetry()
    }
    this.#setPhase("refused")
    return "Nothing was run there."
  }

  /** That a server has the newer protocol is remembered until it fails; that it has not, for an hour. */
  #isStillValid(known: (KnownProtocol & { at: number }) | undefined): boolean {
    return (
      known?.prior.kind === "modern" || (known !== undefined && this.#now() - known.at < clientLimits.protocolCacheMs)
    )
  }

  #openOptions(): OpenSessionOptions {
    const { onListChanged, onFlood } = this.#events
    return {
      spec: this.#spec,
      host: this.#host,
      timeoutMs: this.timeoutMs,
      signal: this.#closing.signal,
      events: { onLost: (session) => this.#onLost(session), onListChanged },
      onFlood,
      onClosing: (closing) => this.trackClosing(closing),
    }
  }

  #onOpened(opened: OpenedSession): void {
    const { session } = opened
    if (this.#closing.signal.aborted || session.end !== undefined) {
      this.trackClosing(session.close())
      throw new ConnectFailed(session.end ?? "was closed", {
        printed: session.channel.child?.printed ?? "",
        exited: true,
      })
    }
    this.#session = session
    this.#kind = session.channel.kind
    this.#knownProtocol = { kind: session.channel.kind, prior: session.discovery, at: this.#now() }
    this.#problem = undefined
    this.#connectedAt = this.#now()
    this.#connections++
    this.#setPhase("connected")
    this.#events.onConnected(opened)
  }

  #onLost(session: ServerSession): void {
    if (session === this.#session) {
      if (this.#now() - this.#connectedAt < stableMs) this.recovery.failed()
      const printed = session.channel.child?.printed ?? ""
      this.drop(session, problemText(this.#spec.name, session.end ?? "is gone", printed))
    }
    this.trackClosing(session.close())
  }

  /** Schedules the next attempt, or waits for a call that needs one. Returns what to tell the caller. */
  #waitForRetry(): string {
    if (this.#closing.signal.aborted) return ""
    const { state, next } = this.recovery.scheduleRetry()
    this.#setPhase(state)
    return next
  }

  #setPhase(phase: McpServerState["state"]): void {
    if (this.#closing.signal.aborted) return
    this.#phase = phase
    this.#host.onState()
  }
}

/** A connection that ends sooner counts as a failure. */
const stableMs = 10_000
