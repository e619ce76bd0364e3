import { Ending } from "../core/ending.ts"
import type { McpServerSpec } from "../core/mcp.ts"
import { RequestSender } from "./request-sender.ts"
import type { RequestContext, ConnectionHost, ConnectionState, Offer, RawResult } from "./connection-types.ts"
import { clientLimits } from "./limits.ts"
import { ReconnectingSession } from "./reconnecting-session.ts"
import type { ServerSession } from "./server-session.ts"
import { UpstreamSubscriptions } from "./upstream-subscriptions.ts"

/** The connection to one server: opened when needed, and opened again when it is lost. */
export class Connection {
  readonly #name: string
  readonly #host: ConnectionHost
  readonly #session: ReconnectingSession
  readonly #sender: RequestSender
  readonly #subscriptions: UpstreamSubscriptions
  #refreshing: NodeJS.Timeout | undefined
  #floodReportedAt = 0

  constructor(spec: McpServerSpec, host: ConnectionHost) {
    this.#name = spec.name
    this.#host = host
    this.#session = new ReconnectingSession(spec, host, {
      onConnected: ({ session, offer }) => {
        this.#reportOffer(offer)
        this.#subscriptions.resubscribe(session).catch((error: Error) => {
          host.logger.info(`The MCP server ${this.#name} does not report changes: ${error.message}`)
        })
      },
      onListChanged: (session) => this.#refreshSoon(session),
      onFlood: () => this.#reportFlood(),
    })
    this.#sender = new RequestSender(this.#session)
    this.#subscriptions = new UpstreamSubscriptions(spec.name, this.#session.timeoutMs)
  }

  get state(): ConnectionState {
    return this.#session.state
  }

  /** Connects in the background and stays connected. */
  start(): void {
    this.#session.start()
  }

  /** Opens a new connection after a person signed in or out. Running requests finish on the old one. */
  reconnect(): void {
    this.#session.reconnect()
  }

  /** Resolves when connected; throws an Ending *upstream_unavailable* that says why and what to do next. */
  async ensureConnected(signal?: AbortSignal): Promise<void> {
    await this.#session.connect(signal)
  }

  /** Resolves when the first attempt has succeeded or failed. */
  firstAttempt(): Promise<void> {
    return this.#session.firstAttempt()
  }

  /** The raw CallToolResult. */
  callTool(name: string, args: unknown, context: RequestContext): Promise<RawResult> {
    return this.#sender.send("tools/call", { name, arguments: args ?? {} }, context)
  }

  readResource(uri: string, context: RequestContext): Promise<RawResult> {
    return this.#sender.send("resources/read", { uri }, context)
  }

  getPrompt(prompt: { name: string; arguments?: Record<string, string> }, context: RequestContext): Promise<RawResult> {
    return this.#sender.send("prompts/get", { ...prompt }, context)
  }

  complete(params: Record<string, unknown>, context: RequestContext): Promise<RawResult> {
    return this.#sender.send("completion/complete", params, context)
  }

  /** Subscribes to a resource until the returned function is called. Changes go to `onResourceUpdated`. */
  async subscribe(uri: string): Promise<() => Promise<void>> {
    return this.#subscriptions.add(uri, await this.#session.connect(), () => this.#session.session)
  }

  /** Asks the server again what it offers. */
  async refresh(): Promise<Offer> {
    const session = await this.#session.connect()
    try {
      const offer = await session.offer(this.#session.timeoutMs)
      if (session === this.#session.session) this.#reportOffer(offer)
      return offer
    } catch (error) {
      const why = session.end ?? `did not list what it offers: ${(error as Error).message}`
      throw new Ending("upstream_unavailable", `The MCP server ${this.#name} ${why}.`, { cause: error })
    }
  }

  /** Closes the connection. Running requests end, and so does the server's process with all it started. */
  async close(): Promise<void> {
    clearTimeout(this.#refreshing)
    await this.#session.close()
  }

  #reportOffer(offer: Offer): void {
    try {
      this.#host.onOffer(offer)
    } catch (error) {
      this.#host.logger.error(`What the MCP server ${this.#name} offers could not be used.`, error)
    }
  }

  /** Collects announced changes, so that the server is asked for its lists only a few times a second. */
  #refreshSoon(session: ServerSession): void {
    if (session !== this.#session.session || this.#refreshing !== undefined) return
    this.#refreshing = setTimeout(() => {
      const refreshed = session === this.#session.session ? this.refresh() : Promise.resolve()
      void refreshed
        .catch((error: Error) => this.#host.logger.warn(error.message))
        .finally(() => (this.#refreshing = undefined))
    }, clientLimits.refreshMs)
    this.#refreshing.unref()
  }

  #reportFlood(): void {
    const now = this.#host.now?.() ?? Date.now()
    if (now - this.#floodReportedAt < 60_000) return
    this.#floodReportedAt = now
    const { notificationsPerSecond } = clientLimits
    this.#host.logger.warn(
      `The MCP server ${this.#name} sends more than ${notificationsPerSecond} notifications a second; the others are dropped.`,
    )
  }
}
