import { Ending } from "../../model/ending.ts"
import type { McpServerSpec, McpServerState } from "../../model/mcp.ts"
import type { ConnectionHost, ConnectionState } from "./exchange.ts"
import { NotOpened, problemText } from "./failed.ts"
import { clientLimits } from "./limits.ts"
import type { Opened, Opening, Verdict } from "./opening.ts"
import { Recovery } from "./recovery.ts"
import type { Session, SessionEvents } from "./session.ts"
import { flawOf, kindOf, type TransportKind } from "./spec.ts"
import { unlessAborted } from "./unless-aborted.ts"

/** Whom a line tells what comes over it. */
export interface LineEvents extends Pick<SessionEvents, "onListChanged"> {
  onGreeted(opened: Opened): void
  onFlood(): void
}

/** The way to one server: opened when somebody needs it, opened again when it is lost. */
export class Line {
  readonly recovery: Recovery
  readonly timeoutMs: number
  readonly #spec: McpServerSpec
  readonly #host: ConnectionHost
  readonly #events: LineEvents
  readonly #now: () => number
  readonly #flaw: string | undefined
  readonly #closing = new AbortController()
  readonly #goodbyes = new Set<Promise<void>>()
  #phase: McpServerState["state"]
  #kind: TransportKind
  #problem: string | undefined
  #session: Session | undefined
  #connectedAt = 0
  #connections = 0
  #trying: Promise<void> | undefined
  #first: Promise<void> | undefined
  #verdict: (Verdict & { at: number }) | undefined

  constructor(spec: McpServerSpec, host: ConnectionHost, events: LineEvents) {
    this.#spec = spec
    this.#host = host
    this.#events = events
    this.#now = () => host.now?.() ?? Date.now()
    this.recovery = new Recovery(this.#now, () => void this.#attempt().catch(() => {}))
    this.timeoutMs = spec.connectTimeoutMs ?? clientLimits.connectMs
    this.#kind = kindOf(spec)
    this.#flaw = flawOf(spec)
    this.#phase = !spec.enabled ? "disabled" : this.#flaw === undefined ? "resting" : "refused"
    if (this.#flaw !== undefined) this.#problem = `The MCP server ${spec.name} ${this.#flaw}.`
  }

  get session(): Session | undefined {
    return this.#session
  }

  get state(): ConnectionState {
    return {
      state: this.#phase,
      transport: this.#kind,
      protocolVersion: this.#session?.client.getNegotiatedProtocolVersion(),
      problem: this.#problem,
      restarts: Math.max(0, this.#connections - 1),
      pid: this.#session?.way.child?.pid,
    }
  }

  /** Begins to connect in the background and keeps at it. */
  start(): void {
    if (this.#cannot() !== undefined || this.recovery.isKept) return
    this.recovery.keep()
    if (this.#session === undefined) this.#attempt().catch(() => {})
  }

  /** Connects anew, because somebody signed in or out; what is under way comes to its end. */
  again(): void {
    if (this.#cannot() !== undefined) return
    if (this.#trying !== undefined) return void this.#trying.catch(() => {}).then(() => this.again())
    this.recovery.succeeded()
    const session = this.#session
    this.#session = undefined
    session?.retire()
    if (this.recovery.isKept) this.#attempt().catch(() => {})
    else this.#become("resting")
  }

  /** The session, once there is one; throws an Ending *upstream_unavailable* that says which server, why and what next. */
  async connected(signal?: AbortSignal): Promise<Session> {
    if (this.#session !== undefined) return this.#session
    const cannot = this.#cannot() ?? this.#shut()
    if (cannot !== undefined) throw new Ending("upstream_unavailable", cannot)
    await unlessAborted(this.#attempt(), signal)
    return this.#session ?? this.connected(signal)
  }

  /** Resolves when the first attempt is over, however it ended. */
  async settled(): Promise<void> {
    await this.#first
  }

  /** Goes on without that session; the problem is told, where there is one. */
  drop(session: Session, problem: string | undefined): void {
    if (session !== this.#session) return
    this.#session = undefined
    this.#problem = problem
    if (problem !== undefined) this.#host.logger.warn(problem)
    this.#rest()
  }

  /** What is still to be put away before the line is closed. */
  farewell(closing: Promise<void>): void {
    const done = closing.catch(() => {}).finally(() => this.#goodbyes.delete(done))
    this.#goodbyes.add(done)
  }

  /** Ends the server's process with all it started; what is under way there ends too. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.recovery.stop()
    const session = this.#session
    this.#session = undefined
    this.#phase = this.#spec.enabled ? "resting" : "disabled"
    if (session !== undefined) this.farewell(session.close())
    await this.#trying?.catch(() => {})
    await Promise.all(this.#goodbyes)
  }

  #cannot(): string | undefined {
    const server = `The MCP server ${this.#spec.name}`
    if (this.#closing.signal.aborted) return `${server} is closed, because the house is closing.`
    if (!this.#spec.enabled) return `${server} is disabled. Enable it in the configuration to use it.`
    return this.#flaw === undefined ? undefined : this.#problem
  }

  /** Why nothing is let through to the server now. */
  #shut(): string | undefined {
    const shut = this.recovery.shut()
    return shut && `${this.#problem ?? `The MCP server ${this.#spec.name} fails.`} ${shut}`
  }

  /** One attempt at a time, whoever wants it. */
  #attempt(): Promise<void> {
    if (this.#trying !== undefined) return this.#trying
    this.recovery.stop()
    this.#become("connecting")
    this.#trying = this.#connect().finally(() => (this.#trying = undefined))
    this.#first ??= this.#trying.catch(() => {})
    return this.#trying
  }

  async #connect(): Promise<void> {
    const known = this.#verdict
    this.#verdict = undefined
    try {
      const { openServer } = await import("./opening.ts")
      this.#greeted(await openServer(this.#opening(), this.#stillCounts(known) ? known : undefined))
    } catch (error) {
      if (this.#closing.signal.aborted) throw new Ending("upstream_unavailable", this.#cannot()!, { cause: error })
      const { message, said } = error instanceof NotOpened ? error : { message: "is not connected", said: "" }
      this.#problem = problemText(this.#spec.name, message, said)
      const next = this.#restAfter(error)
      throw new Ending("upstream_unavailable", `${this.#problem.split("\n")[0]} ${next}`, { cause: error })
    }
  }

  /** Somebody who has to sign in is not waited for by trying. */
  #restAfter(error: unknown): string {
    if (!(error instanceof NotOpened && error.refused)) {
      this.recovery.failed()
      return this.#rest()
    }
    this.#become("refused")
    return "Nothing was run there."
  }

  /** That a server speaks the newer protocol is believed until it fails; that it does not, for an hour. */
  #stillCounts(verdict: (Verdict & { at: number }) | undefined): boolean {
    return (
      verdict?.prior.kind === "modern" || (verdict !== undefined && this.#now() - verdict.at < clientLimits.verdictMs)
    )
  }

  #opening(): Opening {
    const { onListChanged, onFlood } = this.#events
    return {
      spec: this.#spec,
      host: this.#host,
      timeoutMs: this.timeoutMs,
      signal: this.#closing.signal,
      events: { onLost: (session) => this.#lost(session), onListChanged },
      onFlood,
      onClosing: (closing) => this.farewell(closing),
    }
  }

  #greeted(opened: Opened): void {
    const { session } = opened
    if (this.#closing.signal.aborted || session.end !== undefined) {
      this.farewell(session.close())
      throw new NotOpened(session.end ?? "was closed", { said: session.way.child?.said ?? "", died: true })
    }
    this.#session = session
    this.#kind = session.way.kind
    this.#verdict = { kind: session.way.kind, prior: session.verdict, at: this.#now() }
    this.#problem = undefined
    this.#connectedAt = this.#now()
    this.#connections++
    this.#become("connected")
    this.#events.onGreeted(opened)
  }

  #lost(session: Session): void {
    if (session === this.#session) {
      if (this.#now() - this.#connectedAt < steadyMs) this.recovery.failed()
      const said = session.way.child?.said ?? ""
      this.drop(session, problemText(this.#spec.name, session.end ?? "is gone", said))
    }
    this.farewell(session.close())
  }

  /** Waits with the next attempt, or for somebody who wants one. Says which. */
  #rest(): string {
    if (this.#closing.signal.aborted) return ""
    const { state, next } = this.recovery.rest()
    this.#become(state)
    return next
  }

  #become(phase: McpServerState["state"]): void {
    if (this.#closing.signal.aborted) return
    this.#phase = phase
    this.#host.onState()
  }
}

/** A connection that lived so long was good; one that ends sooner counts as a failure. */
const steadyMs = 10_000
