import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  UrlElicitationRequiredError,
  type McpSubscription,
  type PriorDiscovery,
} from "@modelcontextprotocol/client"
import { failure } from "../../model/ending.ts"
import type { McpServerSpec, McpToolDefinition } from "../../model/mcp.ts"
import { answerFor, answerRequests, capabilitiesFor } from "./answers.ts"
import type { Asking, ConnectionHost, ElicitAnswer, Offer, RawResult } from "./exchange.ts"
import { failedRequest } from "./endings.ts"
import { Flights, type Flight } from "./flights.ts"
import { streamLost } from "./http.ts"
import { clientLimits } from "./limits.ts"
import { anyObject, askForOffer } from "./offer.ts"
import { hasParameterHeaders } from "./parameter-headers.ts"
import type { Way } from "./transports.ts"

/** The SDK must have a limit; ours is the one that counts. */
const noLimit = 2 ** 31 - 1

/** Whom a session tells what happens to it. */
export interface SessionEvents {
  /** The server is gone; said once. */
  onLost(session: Session): void
  onListChanged(session: Session): void
}

/** One greeting of a server and what is said until it ends. */
export class Session {
  readonly way: Way
  readonly client: Client
  readonly flights: Flights
  readonly #spec: McpServerSpec
  readonly #host: ConnectionHost
  readonly #events: SessionEvents
  #end: string | undefined
  #retired = false
  #closing: Promise<void> | undefined
  #listening: McpSubscription | undefined
  #relisten: Promise<void> = Promise.resolve()
  #mirrored = new Map<string, McpToolDefinition>()

  constructor(way: Way, spec: McpServerSpec, host: ConnectionHost, events: SessionEvents) {
    this.way = way
    this.#spec = spec
    this.#host = host
    this.#events = events
    this.flights = new Flights(() => {
      if (this.#retired) void this.close()
    })
    this.client = new Client(
      { name: "quartermaster", version: host.version },
      {
        capabilities: capabilitiesFor(spec),
        versionNegotiation: {
          mode: "auto",
          ...(way.kind === "stdio" ? { probe: { timeoutMs: clientLimits.probeMs } } : {}),
        },
        listMaxPages: clientLimits.pages,
      },
    )
    answerRequests(this.client, this.flights, spec, host.workspace)
    this.#listenToNotes()
  }

  /** How it ended, as the end of a sentence. */
  get end(): string | undefined {
    return this.way.child?.end ?? this.#end
  }

  get verdict(): PriorDiscovery {
    const discover = this.client.getDiscoverResult()
    return discover === undefined ? { kind: "legacy" } : { kind: "modern", discover }
  }

  /** Greets the server, in the protocol it was found to speak before or by asking. */
  async open(prior: PriorDiscovery | undefined, timeout: number): Promise<void> {
    await this.client.connect(this.way.transport, { timeout, ...(prior === undefined ? {} : { prior }) })
    Object.assign(this.client, {
      onclose: () => this.#lose("closed the connection"),
      onerror: (error: Error) => {
        if (endsConnection(this.way, error)) this.#lose("ended its stream")
      },
    } satisfies Partial<Client>)
    if (this.way.child?.end !== undefined) this.#lose("closed the connection")
    if (this.client.getProtocolEra() === "legacy" && this.client.getServerCapabilities()?.logging !== undefined) {
      void this.client.setLoggingLevel("debug", { timeout }).catch(() => {})
    }
  }

  async offer(timeout: number): Promise<Offer> {
    const { name } = this.#spec
    const offer = await askForOffer(this.client, {
      timeout,
      stdio: this.way.kind === "stdio",
      warn: (sentence) => this.#host.logger.warn(`The MCP server ${name} ${sentence}.`),
    })
    const mirrors = this.way.kind === "http" && this.client.getProtocolEra() === "modern"
    this.#mirrored = new Map(mirrors ? offer.tools.filter(hasParameterHeaders).map((tool) => [tool.name, tool]) : [])
    return offer
  }

  /** Makes one request for a call, through as many rounds of questions as it takes. Throws a `FailedRequest`. */
  async ask(method: string, params: Record<string, unknown>, asking: Asking): Promise<RawResult> {
    const flight = this.flights.begin(asking)
    try {
      return await this.#rounds(method, params, flight)
    } catch (error) {
      throw failedRequest(error, {
        server: this.#spec.name,
        flight,
        inSession: this.way.transport.sessionId !== undefined,
        end: this.end,
        signIn: this.#host.access?.problemIn(error),
      })
    } finally {
      flight.end()
    }
  }

  /** Whether the server answers at all. */
  async isThere(timeout: number): Promise<boolean> {
    const method = this.client.getProtocolEra() === "modern" ? "server/discover" : "ping"
    return await this.client.request({ method }, anyObject, { timeout }).then(
      () => true,
      (error: unknown) => error instanceof ProtocolError && error.code !== streamLost,
    )
  }

  /** Has the server tell of changes of its lists and of these resources. */
  watch(uris: readonly string[]): Promise<void> {
    this.#relisten = this.#relisten.catch(() => {}).then(() => this.#listen(uris))
    return this.#relisten
  }

  /** Lets what is under way come to its end, and then closes. */
  retire(): void {
    this.#retired = true
    if (this.flights.size === 0) void this.close()
  }

  close(): Promise<void> {
    this.#retired = true
    this.#end ??= "was closed"
    this.#closing ??= this.#leave()
    return this.#closing
  }

  async #leave(): Promise<void> {
    await this.way.close().catch(() => {})
    await this.client.close().catch(() => {})
  }

  /** The newer protocol asks by answering: what it wants to know is given with the same request once more. */
  async #rounds(method: string, params: Record<string, unknown>, flight: Flight): Promise<RawResult> {
    let asked = params
    let pause = 250
    for (let round = 0; ;) {
      const result = await this.#sendAfterVisit(method, asked, flight)
      if (result["resultType"] !== "input_required") return result
      const questions = Object.entries((result["inputRequests"] ?? {}) as Record<string, unknown>)
      if (questions.length > clientLimits.questions || (questions.length > 0 && ++round > clientLimits.rounds)) {
        throw failure(`The MCP server ${this.#spec.name} asks too much within one call, which was ended for it.`)
      }
      const answers = await Promise.all(
        questions.map(async ([key, value]) => [key, await this.#answer(value, flight, key)]),
      )
      if (questions.length === 0) await pauseFor(pause, flight.signal)
      pause = Math.min(5_000, pause * 2)
      const { requestState } = result
      asked = {
        ...params,
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState }),
      }
    }
  }

  /** A server of 2025 may refuse a call until a person has been at an address; then it is asked once more. */
  async #sendAfterVisit(method: string, params: Record<string, unknown>, flight: Flight): Promise<RawResult> {
    try {
      return await this.#send(method, params, flight)
    } catch (error) {
      if (!(error instanceof UrlElicitationRequiredError)) throw error
      for (const visit of error.elicitations.slice(0, clientLimits.questions)) {
        const question = { method: "elicitation/create", params: { ...visit, mode: "url" } }
        const answer = (await this.#answer(question, flight)) as ElicitAnswer
        if (answer.action !== "accept") throw error
      }
      return await this.#send(method, params, flight)
    }
  }

  #send(method: string, params: Record<string, unknown>, flight: Flight): Promise<RawResult> {
    const { onProgress } = flight.asking
    const options = {
      signal: flight.signal,
      timeout: noLimit,
      allowInputRequired: true,
      ...(onProgress === undefined ? {} : { onprogress: onProgress }),
    }
    const sent = this.#withMeta(params, flight.asking)
    const mirrored = method === "tools/call" ? this.#mirrored.get(params["name"] as string) : undefined
    if (mirrored === undefined) return this.client.request({ method, params: sent }, anyObject, options)
    const toolDefinition = { name: mirrored.name, inputSchema: mirrored.inputSchema as { type: "object" } }
    return this.client.callTool(sent as { name: string }, { ...options, toolDefinition }) as Promise<RawResult>
  }

  #answer(question: unknown, flight: Flight, key?: string): Promise<unknown> {
    const { method, params } = (question ?? {}) as { method?: unknown; params?: unknown }
    const asked = { method: String(method), params, signal: flight.signal, key }
    return answerFor(flight, this.#spec, this.#host.workspace, asked)
  }

  /** What the newer protocol tells with each request: of what we want to hear, and what may be asked within it. */
  #withMeta(params: Record<string, unknown>, { onLog, able }: Asking): Record<string, unknown> {
    if (this.client.getProtocolEra() !== "modern" || (onLog === undefined && able === undefined)) return params
    const _meta = {
      ...(params["_meta"] as object | undefined),
      ...(onLog === undefined ? {} : { [LOG_LEVEL_META_KEY]: "debug" }),
      ...(able === undefined ? {} : { [CLIENT_CAPABILITIES_META_KEY]: capabilitiesFor(this.#spec, able) }),
    }
    return { ...params, _meta }
  }

  #listenToNotes(): void {
    const { client } = this
    client.setNotificationHandler("notifications/tools/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/resources/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/prompts/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      this.#host.onResourceUpdated(params.uri)
    })
    client.setNotificationHandler("notifications/message", ({ params }) => {
      const flight = this.flights.whose()
      const message = { level: params.level, logger: params.logger, data: params.data }
      if (typeof flight !== "string" && flight.asking.onLog !== undefined) flight.asking.onLog(message)
      else this.#host.logger.info(`The MCP server ${this.#spec.name} says (${params.level}).`, message)
    })
  }

  async #listen(uris: readonly string[]): Promise<void> {
    const has = this.client.getServerCapabilities()
    if (this.client.getProtocolEra() !== "modern" || this.#end !== undefined) return
    const filter = {
      ...(has?.tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(has?.prompts?.listChanged === true ? { promptsListChanged: true } : {}),
      ...(has?.resources?.listChanged === true ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : {}),
    }
    const before = this.#listening
    this.#listening = undefined
    if (Object.keys(filter).length > 0) {
      const next = await this.client.listen(filter, { timeout: clientLimits.connectMs })
      this.#listening = next
      void this.#hearOut(next, uris)
    }
    await before?.close()
  }

  /** A stream of changes that ends is opened once more; what happened meanwhile is asked for. */
  async #hearOut(ended: McpSubscription, uris: readonly string[]): Promise<void> {
    await ended.closed
    if (this.#listening !== ended || this.#end !== undefined) return
    await pauseFor(500, undefined)
    if (this.#listening !== ended || this.#end !== undefined) return
    this.#listening = undefined
    await this.watch(uris).then(
      () => this.#events.onListChanged(this),
      () => this.#lose("ended its stream of changes"),
    )
  }

  #lose(how: string): void {
    if (this.#end !== undefined) return
    this.#end = how
    this.#events.onLost(this)
  }
}

/** A stream that the SDK gave up to open again, or the only one that SSE has. */
function endsConnection(way: Way, error: Error): boolean {
  return (
    (way.kind === "sse" && error.message.startsWith("SSE error")) || error.message.startsWith("Maximum reconnection")
  )
}

function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener("abort", done, { once: true })
  })
}
