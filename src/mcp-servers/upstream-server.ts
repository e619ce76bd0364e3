import { statSync } from "node:fs"
import { resolve } from "node:path"
import { Ending } from "../core/ending.ts"
import { mcpName, mcpParts } from "../core/mcp.ts"
import type { McpChange, McpPin, McpServerSpec, McpServerState } from "../core/mcp.ts"
import { canonicalJson } from "../lib/canonical-json.ts"
import { isLoopback } from "../lib/url.ts"
import type { Tool } from "../core/tool.ts"
import { changedLists, partsOf, pinTools } from "./pin-offer.ts"
import { Connection } from "./connection.ts"
import type { Offer } from "./connection-types.ts"
import { ownWireName, toolName } from "./names.ts"
import type { OAuthAccess } from "./oauth.ts"
import { signInApi, type SignInApi } from "./oauth-api.ts"
import { partTools } from "./part-tools.ts"
import { changePins, readPins, type PinnedTool, type ServerPins } from "./pins.ts"
import { quarantinedTool } from "./quarantined-tool.ts"
import { serverCalls, type ServerCalls } from "./server-calls.ts"
import type { ServersHost } from "./servers-host.ts"
import { ToolRegistrations, type WantedTool } from "./tool-registrations.ts"
import {
  inspectTools,
  findUpstreamName,
  operatorNotice,
  toMcpPin,
  nameCollision,
  toolStatuses,
  type OfferedTool,
  type ToolStatus,
} from "./tool-status.ts"
import { wrapTool } from "./wrap-tool.ts"

/** The most characters that all definitions of one server may have as JSON. */
const maxOfferCharacters = 16 * 1024 * 1024

/** One MCP server: its connection, its pins and its tools in the registry. */
export class UpstreamServer {
  readonly spec: McpServerSpec
  readonly signInApi: SignInApi
  readonly #host: ServersHost
  readonly #notifyChange: (change: McpChange) => void
  readonly #connection: Connection
  readonly #calls: ServerCalls
  readonly #registrations: ToolRegistrations
  #offer: Offer | undefined
  #offeredTools: Map<string, OfferedTool> | undefined
  #pins: ServerPins | undefined
  #statuses: readonly ToolStatus[] = []
  #refused: string | undefined
  #notice: string | undefined
  #work: Promise<void> = Promise.resolve()
  #closed = false

  /** `refused` says why the server must not be used at all. */
  constructor(
    spec: McpServerSpec,
    host: ServersHost,
    notifyChange: (change: McpChange) => void,
    { access, refused }: { access: OAuthAccess | undefined; refused: string | undefined },
  ) {
    this.spec = spec
    this.#host = host
    this.#notifyChange = notifyChange
    this.#connection = new Connection(spec, {
      access,
      logger: host.logger,
      workspace: host.workspace,
      version: host.version,
      onOffer: (offer) => this.#onOffer(offer),
      onState: () => notifyChange({ server: spec.name, what: "state" }),
      onResourceUpdated: (uri) => notifyChange({ server: spec.name, what: "resource", uri }),
    })
    this.signInApi = signInApi(spec, access, this.#connection, host.documents, () => this.#tryConnect())
    this.#calls = serverCalls(spec.name, this.#connection)
    this.#registrations = new ToolRegistrations(spec, host)
    if (refused === undefined) this.reload()
    else this.refuse(refused)
  }

  get offer(): Offer | undefined {
    return this.#offer
  }

  get hasPins(): boolean {
    return this.#pins !== undefined
  }

  get state(): McpServerState {
    const { name, prefix, enabled } = this.spec
    const count = (is: (one: ToolStatus) => boolean) => this.#statuses.filter(is).length
    const refused = this.#refused
    return {
      ...this.#connection.state,
      ...(enabled ? {} : { state: "disabled" as const }),
      ...(refused === undefined ? {} : { state: "refused" as const, problem: refused }),
      name,
      group: name,
      ...this.signInApi.signedIn(),
      prefix,
      tools: count(isUsable),
      quarantined: count(({ quarantine }) => quarantine !== undefined),
      resources: this.#offer?.resources.length ?? 0,
      prompts: this.#offer?.prompts.length ?? 0,
    }
  }

  get pins(): McpPin[] {
    return this.#statuses.map((status) => toMcpPin(this.spec.name, status))
  }

  /** Connects in the background. */
  start(): void {
    if (this.#isOff()) return
    this.#connection.start()
  }

  /** Connects again after a person signed in or out. */
  reconnect(): void {
    if (!this.#isOff()) this.#connection.reconnect()
  }

  /** Resolves when what the server offers is known and pinned, or the first attempt failed. */
  async waitForOffer(): Promise<void> {
    if (this.#isOff()) return
    this.#connection.start()
    await this.#connection.firstAttempt()
    await this.#work
  }

  /** Stops using this server, for the reason in the sentence. */
  refuse(sentence: string): void {
    if (this.#refused !== undefined) return
    this.#refused = sentence
    this.#host.logger.warn(`MCP server ${this.spec.name}: ${sentence}`)
    this.#statuses = []
    this.#registrations.update(new Map())
    this.#connection
      .close()
      .catch((error: unknown) => this.#host.logger.error(`${this.spec.name} did not close.`, error))
    this.#notifyChange({ server: this.spec.name, what: "state" })
  }

  /** Reads the pins again after a change by any process. */
  reload(): void {
    if (this.#isOff()) return
    this.#pins = readPins(this.#host.documents, this.spec.name)
    this.#apply()
  }

  async trust(tool: string | undefined, by: string, shown?: ReadonlySet<string>): Promise<McpPin[]> {
    this.#throwIfOff()
    await this.#connection.ensureConnected()
    await this.#ensureOffer()
    const { name } = this.spec
    const upstream = tool === undefined ? undefined : findUpstreamName(name, this.#statuses, tool)
    const selected = this.#statuses.filter(
      ({ upstreamName, state, offered }) =>
        (upstream === undefined ? state !== "pinned" : upstreamName === upstream) &&
        offered !== undefined &&
        !offered.leftOut,
    )
    const pinned = await pinTools(
      selected.map(({ offered }) => offered!),
      by,
    )
    if (shown !== undefined && pinned.some(({ hash }) => !shown.has(hash))) {
      throw new Error(
        `The server '${name}' changed what it offers while you looked, so nothing was trusted. Look again.`,
      )
    }
    const parts = partsOf(this.#offer)
    await changePins(this.#host.documents, name, by, (pins) => {
      const tools = new Map(pins?.tools)
      if (upstream === undefined) for (const old of tools.keys()) if (!this.#offeredTools?.has(old)) tools.delete(old)
      for (const one of pinned) tools.set(one.definition.name, one)
      return { tools, parts }
    })
    const pinnedNames = new Set(pinned.map(({ definition }) => definition.name))
    return this.pins.filter((pin) => pinnedNames.has(pin.tool))
  }

  async subscribe(uri: string): Promise<() => Promise<void>> {
    this.#throwIfOff()
    await this.#connection.ensureConnected()
    return this.#connection.subscribe(uri)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#connection.close()
    await this.#work
  }

  async #tryConnect(): Promise<void> {
    if (this.#isOff()) return
    await this.#connection.ensureConnected().catch(() => {})
    await this.#work
  }

  #isOff(): boolean {
    return this.#closed || this.#refused !== undefined || !this.spec.enabled
  }

  #throwIfOff(): void {
    if (!this.#isOff()) return
    throw new Error(this.#refused ?? `The MCP server ${this.spec.name} is switched off. Set enabled to true to use it.`)
  }

  /** Takes a new offer from the connection. Changed tools are quarantined before this returns. */
  #onOffer(offer: Offer): void {
    if (this.#isOff()) return
    const before = this.#offer
    const offeredTools = inspectTools(this.spec.name, offer.tools)
    const size = [...offeredTools.values()].reduce((sum, tool) => sum + tool.size, 0)
    if (size > maxOfferCharacters) {
      return this.refuse(`It describes its tools with ${size} characters; ${maxOfferCharacters} are the most.`)
    }
    this.#offer = offer
    this.#offeredTools = offeredTools
    this.#apply()
    this.#work = this.#work
      .then(() => this.#pinOffer(offer))
      .catch((error: unknown) => {
        this.#host.logger.error(`What the MCP server ${this.spec.name} offers could not be pinned.`, error)
      })
    for (const what of changedLists(before, offer)) this.#notifyChange({ server: this.spec.name, what })
  }

  /** Pins everything at the first connection, unless `trust` is ask; later only which parts the server has. */
  async #pinOffer(offer: Offer): Promise<void> {
    const { name, trust } = this.spec
    const parts = partsOf(offer)
    if (this.#isOff() || offer !== this.#offer) return
    if (this.#pins !== undefined) {
      if (canonicalJson(parts) === canonicalJson(this.#pins.parts)) return
      return changePins(this.#host.documents, name, `mcp:${name}`, (pins) => pins && { ...pins, parts })
    }
    if (trust === "ask") return
    const clean = [...(this.#offeredTools?.values() ?? [])].filter(
      ({ leftOut, hasHiddenCharacters }) => leftOut === undefined && !hasHiddenCharacters,
    )
    const pinned = await pinTools(clean, "first connection")
    if (this.#isOff()) return
    const tools = new Map(pinned.map((tool) => [tool.definition.name, tool]))
    await changePins(this.#host.documents, name, `mcp:${name}`, (pins) =>
      pins === undefined ? { tools, parts } : undefined,
    )
  }

  /** Registers tools according to the pins and the offer. */
  #apply(): void {
    const { name, prefix, trust } = this.spec
    this.#statuses = toolStatuses(name, this.#offeredTools, this.#pins)
    const collision = prefix
      ? undefined
      : nameCollision(this.#statuses, this.#host.registry.wireNames(), this.#registrations)
    if (collision !== undefined) return this.refuse(collision)
    // There is nothing to register until the first offer is pinned.
    if (this.#pins === undefined && (trust === "first" || this.#offeredTools === undefined)) return
    this.#reportNotice()
    const wanted = new Map<string, WantedTool>()
    for (const status of this.#statuses) {
      const fullName = toolName(name, status.upstreamName)
      const { leftOut, quarantine, pin } = status
      if (leftOut !== undefined) continue
      if (quarantine !== undefined) {
        wanted.set(fullName, { key: quarantine, make: () => quarantinedTool(fullName, name, quarantine) })
      } else if (pin !== undefined) wanted.set(fullName, { key: pin.hash, make: () => this.#wrap(pin) })
    }
    for (const part of this.#parts()) wanted.set(part.name, { key: part.quarantine ?? "part", make: () => part })
    if (this.#registrations.update(wanted)) this.#notifyChange({ server: name, what: "tools" })
  }

  /** Logs once which tools a person should look at. */
  #reportNotice(): void {
    const notice = operatorNotice(this.#statuses)
    if (notice === this.#notice) return
    this.#notice = notice
    const { name } = this.spec
    if (notice !== undefined) this.#host.logger.warn(`MCP server ${name}: ${notice} See qm mcp pins list ${name}.`)
  }

  #wrap({ definition, hash }: PinnedTool): Tool {
    const { name, prefix, timeoutMs, url, trustReadOnly } = this.spec
    return wrapTool(definition, {
      server: name,
      timeoutMs,
      asks: mcpName(name, mcpParts.elicit),
      host: url === undefined ? undefined : new URL(url).hostname,
      folders: foldersOf(this.spec, this.#host.workspace),
      trustReadOnly,
      wireName: prefix ? undefined : ownWireName(definition.name),
      call: (args, context) =>
        this.#calls.callTool(definition.name, args, context, () => this.#checkUnchanged(definition.name, hash)),
    })
  }

  /** The server may have changed the tool since the call was decided. */
  async #checkUnchanged(tool: string, hash: string): Promise<void> {
    await this.#ensureOffer()
    if (this.#offeredTools?.get(tool)?.hash === hash) return
    const why = this.#statuses.find(({ upstreamName }) => upstreamName === tool)?.quarantine
    const gone = `The MCP server ${this.spec.name} no longer has '${tool}'. Choose another tool.`
    throw new Ending("tool_not_available", `Nothing was run there. ${why ?? gone}`)
  }

  /** Asks what the server offers if that is not known yet. */
  async #ensureOffer(): Promise<void> {
    if (this.#offeredTools === undefined) await this.#connection.refresh()
  }

  #parts(): Tool[] {
    const { name, timeoutMs } = this.spec
    const quarantine = this.#pins === undefined ? unpinnedSentence(name) : undefined
    const has = partsOf(this.#offer, this.#pins)
    const lists = (uri: string) => this.#offer?.resources.some((resource) => resource.uri === uri) === true
    return partTools(
      name,
      has,
      { ...this.#calls, lists },
      { timeoutMs, quarantine, folders: foldersOf(this.spec, this.#host.workspace) },
    )
  }
}

function isUsable({ leftOut, quarantine }: ToolStatus): boolean {
  return leftOut === undefined && quarantine === undefined
}

function unpinnedSentence(server: string): string {
  return `No person has trusted what the MCP server ${server} offers. To do so: qm mcp pins diff ${server}, then qm mcp pins trust ${server}.`
}

/** Returns the base folders of relative paths of a server on this machine: its folder, and those in its arguments. */
function foldersOf({ url, cwd, args = [] }: McpServerSpec, workspace: string): readonly string[] | undefined {
  if (url !== undefined) return isLoopback(new URL(url).hostname) ? [] : undefined
  const own = cwd ?? workspace
  return [own, ...args.map((arg) => resolve(own, arg)).filter(isFolder)]
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}
