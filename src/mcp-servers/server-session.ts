import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  UrlElicitationRequiredError,
  type ClientOptions,
  type McpSubscription,
  type PriorDiscovery,
} from "@modelcontextprotocol/client"
import { failure } from "../core/ending.ts"
import type { McpServerSpec, McpToolDefinition } from "../core/mcp.ts"
import { answerServerQuestion, answerServerRequests, capabilitiesFor } from "./answer-server.ts"
import type { RequestContext, ConnectionHost, ElicitAnswer, Offer, RawResult } from "./connection-types.ts"
import { toFailedRequest } from "./explain-failure.ts"
import { InFlightRequests, type InFlightRequest } from "./in-flight.ts"
import { streamLost } from "./http-transport.ts"
import { clientLimits } from "./limits.ts"
import { anyObject, fetchOffer } from "./fetch-offer.ts"
import { hasParameterHeaders } from "./parameter-headers.ts"
import type { ServerChannel } from "./server-channel.ts"

/** The SDK requires a timeout; requests have their own. */
const noTimeout = 2 ** 31 - 1

export interface ServerSessionEvents {
  /** Called once when the server is lost. */
  onLost(session: ServerSession): void
  onListChanged(session: ServerSession): void
}

/** One session with a server, from initialization to its end. */
export class ServerSession {
  readonly channel: ServerChannel
  readonly client: Client
  readonly inFlight: InFlightRequests
  readonly #spec: McpServerSpec
  readonly #host: ConnectionHost
  readonly #events: ServerSessionEvents
  #end: string | undefined
  #closesWhenIdle = false
  #closing: Promise<void> | undefined
  #listening: McpSubscription | undefined
  #relisten: Promise<void> = Promise.resolve()
  #headerTools = new Map<string, McpToolDefinition>()

  constructor(channel: ServerChannel, spec: McpServerSpec, host: ConnectionHost, events: ServerSessionEvents) {
    this.channel = channel
    this.#spec = spec
    this.#host = host
    this.#events = events
    this.inFlight = new InFlightRequests(() => {
      if (this.#closesWhenIdle) void this.close()
    })
    this.client = new Client(
      { name: "quartermaster", version: host.version },
      {
        capabilities: capabilitiesFor(spec),
        ...negotiation(channel, spec),
        listMaxPages: clientLimits.pages,
      },
    )
    answerServerRequests(this.client, this.inFlight, spec, host.workspace)
    this.#handleNotifications()
  }

  /** The reason of its end, as the end of a sentence. */
  get end(): string | undefined {
    return this.channel.child?.end ?? this.#end
  }

  get discovery(): PriorDiscovery {
    const discover = this.client.getDiscoverResult()
    return discover === undefined ? { kind: "legacy" } : { kind: "modern", discover }
  }

  /** Initializes the session, with the known protocol or by probing. */
  async open(prior: PriorDiscovery | undefined, timeout: number): Promise<void> {
    await this.client.connect(this.channel.transport, { timeout, ...(prior === undefined ? {} : { prior }) })
    Object.assign(this.client, {
      onclose: () => this.#lose("closed the connection"),
      onerror: (error: Error) => {
        if (endsConnection(this.channel, error)) this.#lose("ended its stream")
      },
    } satisfies Partial<Client>)
    if (this.channel.child?.end !== undefined) this.#lose("closed the connection")
    if (this.client.getProtocolEra() === "legacy" && this.client.getServerCapabilities()?.logging !== undefined) {
      void this.client.setLoggingLevel("debug", { timeout }).catch(() => {})
    }
  }

  async offer(timeout: number): Promise<Offer> {
    const { name } = this.#spec
    const offer = await fetchOffer(this.client, {
      timeout,
      stdio: this.channel.kind === "stdio",
      warn: (sentence) => this.#host.logger.warn(`The MCP server ${name} ${sentence}.`),
    })
    const usesHeaders = this.channel.kind === "http" && this.client.getProtocolEra() === "modern"
    this.#headerTools = new Map(
      usesHeaders ? offer.tools.filter(hasParameterHeaders).map((tool) => [tool.name, tool]) : [],
    )
    return offer
  }

  /** Sends a request for a call and answers the server's questions until there is a result. Throws a `FailedRequest`. */
  async request(method: string, params: Record<string, unknown>, context: RequestContext): Promise<RawResult> {
    const request = this.inFlight.begin(context)
    try {
      return await this.#sendAndAnswer(method, params, request)
    } catch (error) {
      throw toFailedRequest(error, {
        server: this.#spec.name,
        inFlight: request,
        inSession: this.channel.transport.sessionId !== undefined,
        end: this.end,
        signIn: this.#host.access?.problemIn(error),
      })
    } finally {
      request.end()
    }
  }

  async isResponding(timeout: number): Promise<boolean> {
    const method = this.client.getProtocolEra() === "modern" ? "server/discover" : "ping"
    return await this.client.request({ method }, anyObject, { timeout }).then(
      () => true,
      (error: unknown) => error instanceof ProtocolError && error.code !== streamLost,
    )
  }

  /** Asks the server to report changes of its lists and of these resources. */
  watchChanges(uris: readonly string[]): Promise<void> {
    this.#relisten = this.#relisten.catch(() => {}).then(() => this.#listen(uris))
    return this.#relisten
  }

  /** Closes when the running requests have finished. */
  closeWhenIdle(): void {
    this.#closesWhenIdle = true
    if (this.inFlight.size === 0) void this.close()
  }

  close(): Promise<void> {
    this.#closesWhenIdle = true
    this.#end ??= "was closed"
    this.#closing ??= this.#disconnect()
    return this.#closing
  }

  async #disconnect(): Promise<void> {
    await this.channel.close().catch(() => {})
    await this.client.close().catch(() => {})
  }

  /** In the newer protocol a server asks in its response; the answers are sent with the same request again. */
  async #sendAndAnswer(method: string, params: Record<string, unknown>, request: InFlightRequest): Promise<RawResult> {
    let currentParams = params
    let pause = 250
    for (let rounds = 0; ;) {
      const result = await this.#sendWithUrlElicitation(method, currentParams, request)
      if (result["resultType"] !== "input_required") return result
      const questions = Object.entries((result["inputRequests"] ?? {}) as Record<string, unknown>)
      if (
        questions.length > clientLimits.questions ||
        (questions.length > 0 && ++rounds > clientLimits.questionRounds)
      ) {
        throw failure(
          `The MCP server ${this.#spec.name} asked too many questions within one call, so the call was ended.`,
        )
      }
      const answers = await Promise.all(
        questions.map(async ([key, value]) => [key, await this.#answer(value, request, key)]),
      )
      if (questions.length === 0) await pauseFor(pause, request.signal)
      pause = Math.min(5_000, pause * 2)
      const { requestState } = result
      currentParams = {
        ...params,
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState }),
      }
    }
  }

  /** A server of 2025 may refuse a call until a person has opened a URL; then the call is sent once more. */
  async #sendWithUrlElicitation(
    method: string,
    params: Record<string, unknown>,
    request: InFlightRequest,
  ): Promise<RawResult> {
    try {
      return await this.#send(method, params, request)
    } catch (error) {
      if (!(error instanceof UrlElicitationRequiredError)) throw error
      for (const visit of error.elicitations.slice(0, clientLimits.questions)) {
        const question = { method: "elicitation/create", params: { ...visit, mode: "url" } }
        const answer = (await this.#answer(question, request)) as ElicitAnswer
        if (answer.action !== "accept") throw error
      }
      return await this.#send(method, params, request)
    }
  }

  #send(method: string, params: Record<string, unknown>, request: InFlightRequest): Promise<RawResult> {
    const { onProgress } = request.context
    const options = {
      signal: request.signal,
      timeout: noTimeout,
      allowInputRequired: true,
      ...(onProgress === undefined ? {} : { onprogress: onProgress }),
    }
    const sent = this.#withMeta(params, request.context)
    const headerTool = method === "tools/call" ? this.#headerTools.get(params["name"] as string) : undefined
    if (headerTool === undefined) return this.client.request({ method, params: sent }, anyObject, options)
    const toolDefinition = { name: headerTool.name, inputSchema: headerTool.inputSchema as { type: "object" } }
    return this.client.callTool(sent as { name: string }, { ...options, toolDefinition }) as Promise<RawResult>
  }

  #answer(question: unknown, request: InFlightRequest, key?: string): Promise<unknown> {
    const { method, params } = (question ?? {}) as { method?: unknown; params?: unknown }
    const asked = { method: String(method), params, signal: request.signal, key }
    return answerServerQuestion(request, this.#spec, this.#host.workspace, asked)
  }

  /** The newer protocol declares the log level and our capabilities with each request. */
  #withMeta(params: Record<string, unknown>, { onLog, able }: RequestContext): Record<string, unknown> {
    if (this.client.getProtocolEra() !== "modern" || (onLog === undefined && able === undefined)) return params
    const _meta = {
      ...(params["_meta"] as object | undefined),
      ...(onLog === undefined ? {} : { [LOG_LEVEL_META_KEY]: "debug" }),
      ...(able === undefined ? {} : { [CLIENT_CAPABILITIES_META_KEY]: capabilitiesFor(this.#spec, able) }),
    }
    return { ...params, _meta }
  }

  #handleNotifications(): void {
    const { client } = this
    client.setNotificationHandler("notifications/tools/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/resources/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/prompts/list_changed", () => this.#events.onListChanged(this))
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      this.#host.onResourceUpdated(params.uri)
    })
    client.setNotificationHandler("notifications/message", ({ params }) => {
      const request = this.inFlight.findOwner()
      const message = { level: params.level, logger: params.logger, data: params.data }
      if (typeof request !== "string" && request.context.onLog !== undefined) request.context.onLog(message)
      else this.#host.logger.info(`The MCP server ${this.#spec.name} sent a log message (${params.level}).`, message)
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
      void this.#relistenWhenClosed(next, uris)
    }
    await before?.close()
  }

  /** Opens a stream of changes again when it ends, and refreshes the lists for what was missed. */
  async #relistenWhenClosed(ended: McpSubscription, uris: readonly string[]): Promise<void> {
    await ended.closed
    if (this.#listening !== ended || this.#end !== undefined) return
    await pauseFor(500, undefined)
    if (this.#listening !== ended || this.#end !== undefined) return
    this.#listening = undefined
    await this.watchChanges(uris).then(
      () => this.#events.onListChanged(this),
      () => this.#lose("ended its stream of changes"),
    )
  }

  #lose(reason: string): void {
    if (this.#end !== undefined) return
    this.#end = reason
    this.#events.onLost(this)
  }
}

function negotiation({ kind }: ServerChannel, { protocol }: McpServerSpec): ClientOptions {
  if (protocol === "2026-07-28") return { versionNegotiation: { mode: { pin: protocol } } }
  if (protocol !== undefined) return { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [protocol] }
  const probe = kind === "stdio" ? { probe: { timeoutMs: clientLimits.probeMs } } : {}
  return { versionNegotiation: { mode: "auto", ...probe } }
}

/** Reports whether the SDK gave up reopening a stream, or SSE lost its only one. */
function endsConnection(channel: ServerChannel, error: Error): boolean {
  return (
    (channel.kind === "sse" && error.message.startsWith("SSE error")) ||
    error.message.startsWith("Maximum reconnection")
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
