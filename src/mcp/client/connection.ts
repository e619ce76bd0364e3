import { Ending } from "../../model/ending.ts"
import type { McpServerSpec, McpServerState } from "../../model/mcp.ts"
import { backoffMs, Breaker } from "./breaker.ts"
import type { Asking, ConnectionHost, ConnectionState, Offer, RawResult } from "./exchange.ts"
import { FailedRequest, NotOpened, problemText } from "./failed.ts"
import { clientLimits } from "./limits.ts"
import type { Opened, Opening, Verdict } from "./opening.ts"
import type { Session } from "./session.ts"
import { Subscriptions } from "./subscriptions.ts"
import { flawOf, kindOf, type TransportKind } from "./spec.ts"

export type { Asking, ConnectionHost, ElicitAnswer, Offer, RawResult } from "./exchange.ts"

/** One server of the configuration: connected when needed, kept connected, and never more trouble than its own. */
export class Connection {
  readonly #spec: McpServerSpec
  readonly #host: ConnectionHost
  readonly #now: () => number
  readonly #breaker = new Breaker()
  readonly #flaw: string | undefined
  readonly #subscriptions: Subscriptions
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
  #kept = false
  readonly #closing = new AbortController()
  #retry: NodeJS.Timeout | undefined
  #refreshing: NodeJS.Timeout | undefined
  #floodTold = 0
  #wondering = 0

  constructor(spec: McpServerSpec, host: ConnectionHost) {
    this.#spec = spec
    this.#host = host
    this.#now = () => host.now?.() ?? Date.now()
    this.#subscriptions = new Subscriptions(spec.name, this.#timeout())
    this.#kind = kindOf(spec)
    this.#flaw = flawOf(spec)
    this.#phase = !spec.enabled ? "disabled" : this.#flaw === undefined ? "resting" : "refused"
    if (this.#flaw !== undefined) this.#problem = `The MCP server ${spec.name} ${this.#flaw}.`
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
    if (this.#cannot() !== undefined || this.#kept) return
    this.#kept = true
    if (this.#session === undefined) this.#attempt().catch(() => {})
  }

  /** Connects anew, because somebody signed in or out; what is under way comes to its end. */
  again(): void {
    if (this.#cannot() !== undefined) return
    if (this.#trying !== undefined) return void this.#trying.catch(() => {}).then(() => this.again())
    this.#breaker.succeeded()
    const session = this.#session
    this.#session = undefined
    session?.retire()
    if (this.#kept) this.#attempt().catch(() => {})
    else this.#become("resting")
  }

  /** Resolves when connected; throws an Ending *upstream_unavailable* that says which server, why and what next. */
  async ensure(signal?: AbortSignal): Promise<void> {
    await this.#connected(signal)
  }

  /** Resolves when the first attempt is over, however it ended. */
  async settled(): Promise<void> {
    await this.#first
  }

  /** The raw CallToolResult. */
  callTool(name: string, args: unknown, asking: Asking): Promise<RawResult> {
    return this.#ask("tools/call", { name, arguments: args ?? {} }, asking)
  }

  readResource(uri: string, asking: Asking): Promise<RawResult> {
    return this.#ask("resources/read", { uri }, asking)
  }

  getPrompt(
    prompt: { name: string; arguments?: Record<string, string> | undefined },
    asking: Asking,
  ): Promise<RawResult> {
    return this.#ask("prompts/get", { ...prompt }, asking)
  }

  complete(params: Record<string, unknown>, asking: Asking): Promise<RawResult> {
    return this.#ask("completion/complete", params, asking)
  }

  /** Is told of changes of one resource by `onResourceUpdated` until the returned function is called. */
  async subscribe(uri: string): Promise<() => Promise<void>> {
    return this.#subscriptions.add(uri, await this.#connected(), () => this.#session)
  }

  /** Asks the server again for everything it offers. */
  async refresh(): Promise<Offer> {
    const session = await this.#connected()
    try {
      const offer = await session.offer(this.#timeout())
      if (session === this.#session) this.#tellOffer(offer)
      return offer
    } catch (error) {
      const why = session.end ?? `did not say what it offers: ${(error as Error).message}`
      throw new Ending("upstream_unavailable", `The MCP server ${this.#spec.name} ${why}.`, { cause: error })
    }
  }

  /** Ends the server's process with all it started; what is under way there ends too. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#retry)
    clearTimeout(this.#refreshing)
    const session = this.#session
    this.#session = undefined
    this.#phase = this.#spec.enabled ? "resting" : "disabled"
    if (session !== undefined) this.#farewell(session.close())
    await this.#trying?.catch(() => {})
    await Promise.all(this.#goodbyes)
  }

  async #ask(method: string, params: Record<string, unknown>, asking: Asking): Promise<RawResult> {
    for (let again = true; ; again = false) {
      const session = this.#session ?? (await this.#connected(asking.signal))
      try {
        const result = await session.ask(method, params, asking)
        this.#breaker.succeeded()
        return result
      } catch (error) {
        if (!(error instanceof FailedRequest)) throw error
        this.#judge(session, error)
        if (error.server !== "forgotten" || !again) throw error.ending
      }
    }
  }

  /** What a failed request says of the server: whether it may be asked again, and by which connection. */
  #judge(session: Session, failed: FailedRequest): void {
    if (session !== this.#session) return
    if (failed.server === "alive") return this.#breaker.succeeded()
    if (failed.server === "silent") return this.#wonder(session, failed)
    if (failed.server === "broken") this.#breaker.failed(this.#now())
    this.#drop(session, failed.server === "forgotten" ? undefined : failed.message)
    session.retire()
  }

  /** Only the call may have been slow: the server is asked whether it is there, once for all that wonder. */
  #wonder(session: Session, failed: FailedRequest): void {
    this.#wondering++
    if (this.#wondering > 1) return
    void session.isThere(Math.min(clientLimits.lookMs, this.#timeout())).then((there) => {
      const times = this.#wondering
      this.#wondering = 0
      if (session !== this.#session) return
      if (there) return this.#breaker.succeeded()
      for (let at = 0; at < times; at++) this.#breaker.failed(this.#now())
      if (this.#breaker.openUntil(this.#now()) === 0) return
      this.#drop(session, failed.message)
      this.#farewell(session.close())
    })
  }

  async #connected(signal?: AbortSignal): Promise<Session> {
    if (this.#session !== undefined) return this.#session
    const cannot = this.#cannot() ?? this.#shut()
    if (cannot !== undefined) throw new Ending("upstream_unavailable", cannot)
    await unlessAborted(this.#attempt(), signal)
    return this.#session ?? this.#connected(signal)
  }

  #cannot(): string | undefined {
    const server = `The MCP server ${this.#spec.name}`
    if (this.#closing.signal.aborted) return `${server} is closed, because the house is closing.`
    if (!this.#spec.enabled) return `${server} is disabled. Enable it in the configuration to use it.`
    return this.#flaw === undefined ? undefined : this.#problem
  }

  /** Why nothing is let through to the server now. */
  #shut(): string | undefined {
    const until = this.#breaker.openUntil(this.#now())
    if (until === 0) return undefined
    const seconds = Math.ceil((until - this.#now()) / 1000)
    return `${this.#problem ?? `The MCP server ${this.#spec.name} fails.`} It failed ${this.#breaker.failures} times in a row and is left alone for ${seconds} s; try again then.`
  }

  /** One attempt at a time, whoever wants it. */
  #attempt(): Promise<void> {
    if (this.#trying !== undefined) return this.#trying
    clearTimeout(this.#retry)
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
      this.#breaker.failed(this.#now())
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
    return {
      spec: this.#spec,
      host: this.#host,
      timeoutMs: this.#timeout(),
      signal: this.#closing.signal,
      events: { onLost: (session) => this.#lost(session), onListChanged: (session) => this.#refreshSoon(session) },
      onFlood: () => this.#tellFlood(),
      onClosing: (closing) => this.#farewell(closing),
    }
  }

  #greeted({ session, offer }: Opened): void {
    if (this.#closing.signal.aborted || session.end !== undefined) {
      this.#farewell(session.close())
      throw new NotOpened(session.end ?? "was closed", { said: session.way.child?.said ?? "", died: true })
    }
    this.#session = session
    this.#kind = session.way.kind
    this.#verdict = { kind: session.way.kind, prior: session.verdict, at: this.#now() }
    this.#problem = undefined
    this.#connectedAt = this.#now()
    this.#connections++
    this.#become("connected")
    this.#tellOffer(offer)
    this.#subscriptions.tellAll(session).catch((error: Error) => {
      this.#host.logger.info(`The MCP server ${this.#spec.name} does not tell of changes: ${error.message}`)
    })
  }

  #tellOffer(offer: Offer): void {
    try {
      this.#host.onOffer(offer)
    } catch (error) {
      this.#host.logger.error(`What the MCP server ${this.#spec.name} offers could not be taken in.`, error)
    }
  }

  #lost(session: Session): void {
    if (session === this.#session) {
      if (this.#now() - this.#connectedAt < steadyMs) this.#breaker.failed(this.#now())
      const said = session.way.child?.said ?? ""
      this.#drop(session, problemText(this.#spec.name, session.end ?? "is gone", said))
    }
    this.#farewell(session.close())
  }

  #drop(session: Session, problem: string | undefined): void {
    if (session !== this.#session) return
    this.#session = undefined
    this.#problem = problem
    if (problem !== undefined) this.#host.logger.warn(problem)
    this.#rest()
  }

  /** Waits with the next attempt, or for somebody who wants one. Says which. */
  #rest(): string {
    if (this.#closing.signal.aborted) return ""
    const until = this.#breaker.openUntil(this.#now())
    const delay = until > 0 ? until - this.#now() : backoffMs(this.#breaker.failures)
    const open = until > 0
    if (this.#kept) {
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => void this.#attempt().catch(() => {}), delay)
      this.#retry.unref()
    }
    this.#become(open ? "open" : this.#kept ? "waiting" : "resting")
    return open ? `It is left alone for ${Math.ceil(delay / 1000)} s; try again then.` : "The next call tries again."
  }

  #become(phase: McpServerState["state"]): void {
    if (this.#closing.signal.aborted) return
    this.#phase = phase
    this.#host.onState()
  }

  /** However many changes a server announces, it is asked for its lists a few times in a second at most. */
  #refreshSoon(session: Session): void {
    if (session !== this.#session || this.#refreshing !== undefined) return
    this.#refreshing = setTimeout(() => {
      const asked = session === this.#session ? this.refresh() : Promise.resolve()
      void asked
        .catch((error: Error) => this.#host.logger.warn(error.message))
        .finally(() => (this.#refreshing = undefined))
    }, clientLimits.refreshMs)
    this.#refreshing.unref()
  }

  #tellFlood(): void {
    if (this.#now() - this.#floodTold < 60_000) return
    this.#floodTold = this.#now()
    this.#host.logger.warn(
      `The MCP server ${this.#spec.name} sends more than ${clientLimits.notesPerSecond} notifications a second; what is more is dropped.`,
    )
  }

  #timeout(): number {
    return this.#spec.connectTimeoutMs ?? clientLimits.connectMs
  }

  #farewell(closing: Promise<void>): void {
    const done = closing.catch(() => {}).finally(() => this.#goodbyes.delete(done))
    this.#goodbyes.add(done)
  }
}

/** A connection that lived so long was good; one that ends sooner counts as a failure. */
const steadyMs = 10_000

async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  const aborted = () => new Ending("aborted", "The call was cancelled before the MCP server was connected.")
  if (signal.aborted) throw aborted()
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(aborted())
    signal.addEventListener("abort", stop, { once: true })
  })
  try {
    await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
