import { Ending } from "../../model/ending.ts"
import type { McpServerSpec } from "../../model/mcp.ts"
import { Asker } from "./asker.ts"
import type { Asking, ConnectionHost, ConnectionState, Offer, RawResult } from "./exchange.ts"
import { clientLimits } from "./limits.ts"
import { Line } from "./line.ts"
import type { Session } from "./session.ts"
import { Subscriptions } from "./subscriptions.ts"

export type { Asking, ConnectionHost, ElicitAnswer, Offer, RawResult } from "./exchange.ts"

/** One server of the configuration: connected when needed, kept connected, and never more trouble than its own. */
export class Connection {
  readonly #name: string
  readonly #host: ConnectionHost
  readonly #line: Line
  readonly #asker: Asker
  readonly #subscriptions: Subscriptions
  #refreshing: NodeJS.Timeout | undefined
  #floodTold = 0

  constructor(spec: McpServerSpec, host: ConnectionHost) {
    this.#name = spec.name
    this.#host = host
    this.#line = new Line(spec, host, {
      onGreeted: ({ session, offer }) => {
        this.#tellOffer(offer)
        this.#subscriptions.tellAll(session).catch((error: Error) => {
          host.logger.info(`The MCP server ${this.#name} does not tell of changes: ${error.message}`)
        })
      },
      onListChanged: (session) => this.#refreshSoon(session),
      onFlood: () => this.#tellFlood(),
    })
    this.#asker = new Asker(this.#line)
    this.#subscriptions = new Subscriptions(spec.name, this.#line.timeoutMs)
  }

  get state(): ConnectionState {
    return this.#line.state
  }

  /** Begins to connect in the background and keeps at it. */
  start(): void {
    this.#line.start()
  }

  /** Connects anew, because somebody signed in or out; what is under way comes to its end. */
  again(): void {
    this.#line.again()
  }

  /** Resolves when connected; throws an Ending *upstream_unavailable* that says which server, why and what next. */
  async ensure(signal?: AbortSignal): Promise<void> {
    await this.#line.connected(signal)
  }

  /** Resolves when the first attempt is over, however it ended. */
  settled(): Promise<void> {
    return this.#line.settled()
  }

  /** The raw CallToolResult. */
  callTool(name: string, args: unknown, asking: Asking): Promise<RawResult> {
    return this.#asker.ask("tools/call", { name, arguments: args ?? {} }, asking)
  }

  readResource(uri: string, asking: Asking): Promise<RawResult> {
    return this.#asker.ask("resources/read", { uri }, asking)
  }

  getPrompt(
    prompt: { name: string; arguments?: Record<string, string> | undefined },
    asking: Asking,
  ): Promise<RawResult> {
    return this.#asker.ask("prompts/get", { ...prompt }, asking)
  }

  complete(params: Record<string, unknown>, asking: Asking): Promise<RawResult> {
    return this.#asker.ask("completion/complete", params, asking)
  }

  /** Is told of changes of one resource by `onResourceUpdated` until the returned function is called. */
  async subscribe(uri: string): Promise<() => Promise<void>> {
    return this.#subscriptions.add(uri, await this.#line.connected(), () => this.#line.session)
  }

  /** Asks the server again for everything it offers. */
  async refresh(): Promise<Offer> {
    const session = await this.#line.connected()
    try {
      const offer = await session.offer(this.#line.timeoutMs)
      if (session === this.#line.session) this.#tellOffer(offer)
      return offer
    } catch (error) {
      const why = session.end ?? `did not say what it offers: ${(error as Error).message}`
      throw new Ending("upstream_unavailable", `The MCP server ${this.#name} ${why}.`, { cause: error })
    }
  }

  /** Ends the server's process with all it started; what is under way there ends too. */
  async close(): Promise<void> {
    clearTimeout(this.#refreshing)
    await this.#line.close()
  }

  #tellOffer(offer: Offer): void {
    try {
      this.#host.onOffer(offer)
    } catch (error) {
      this.#host.logger.error(`What the MCP server ${this.#name} offers could not be taken in.`, error)
    }
  }

  /** However many changes a server announces, it is asked for its lists a few times in a second at most. */
  #refreshSoon(session: Session): void {
    if (session !== this.#line.session || this.#refreshing !== undefined) return
    this.#refreshing = setTimeout(() => {
      const asked = session === this.#line.session ? this.refresh() : Promise.resolve()
      void asked
        .catch((error: Error) => this.#host.logger.warn(error.message))
        .finally(() => (this.#refreshing = undefined))
    }, clientLimits.refreshMs)
    this.#refreshing.unref()
  }

  #tellFlood(): void {
    const now = this.#host.now?.() ?? Date.now()
    if (now - this.#floodTold < 60_000) return
    this.#floodTold = now
    const { notesPerSecond } = clientLimits
    this.#host.logger.warn(
      `The MCP server ${this.#name} sends more than ${notesPerSecond} notifications a second; what is more is dropped.`,
    )
  }
}
