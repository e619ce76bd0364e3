import { Ending } from "../../model/ending.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import type { McpChange, McpPin, McpServerSpec, McpServerState } from "../../model/mcp.ts"
import { canonicalJson } from "../../model/plain.ts"
import type { Tool } from "../../model/tool.ts"
import { changedLists, partsOf, pinnedNow } from "./agreement.ts"
import { Connection, type Offer } from "./connection.ts"
import { ownWireName, toolName } from "./names.ts"
import { accessTo } from "./oauth.ts"
import { signInDoor, type SignInDoor } from "./oauth-door.ts"
import { partTools } from "./parts.ts"
import { changePins, readPins, type PinnedTool, type ServerPins } from "./pins.ts"
import { quarantinedTool } from "./quarantined.ts"
import { reachOf, type Reach } from "./reach.ts"
import type { ServersHost } from "./servers.ts"
import { Shelf, type Wanted } from "./shelf.ts"
import { lookAt, meantBy, noticeOf, pinOf, shadowOf, standings, type SeenTool, type Standing } from "./standing.ts"
import { wrapTool } from "./wrap.ts"

/** The most the definitions of one server may come to, in characters of their JSON text. */
const largestOffer = 16 * 1024 * 1024

/** One server: its connection, what is agreed to of it, and its tools in the registry. */
export class Server {
  readonly spec: McpServerSpec
  readonly signing: SignInDoor
  readonly #host: ServersHost
  readonly #tell: (change: McpChange) => void
  readonly #connection: Connection
  readonly #reach: Reach
  readonly #shelf: Shelf
  #offer: Offer | undefined
  #seen: Map<string, SeenTool> | undefined
  #pins: ServerPins | undefined
  #standings: readonly Standing[] = []
  #refused: string | undefined
  #notice: string | undefined
  #work: Promise<void> = Promise.resolve()
  #closed = false

  /** `refused` says why nothing of it may be used from the beginning. */
  constructor(spec: McpServerSpec, host: ServersHost, tell: (change: McpChange) => void, refused: string | undefined) {
    this.spec = spec
    this.#host = host
    this.#tell = tell
    const access = accessTo(spec, host.logins)
    this.#connection = new Connection(spec, {
      access,
      logger: host.logger,
      workspace: host.workspace,
      version: host.version,
      onOffer: (offer) => this.#take(offer),
      onState: () => tell({ server: spec.name, what: "state" }),
      onResourceUpdated: (uri) => tell({ server: spec.name, what: "resource", uri }),
    })
    this.signing = signInDoor(spec, access, this.#connection, host.documents, () => this.#meet())
    this.#reach = reachOf(spec.name, this.#connection)
    this.#shelf = new Shelf(spec, host)
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
    const standing = (is: (one: Standing) => boolean) => this.#standings.filter(is).length
    const refused = this.#refused
    return {
      ...this.#connection.state,
      ...(enabled ? {} : { state: "disabled" as const }),
      ...(refused === undefined ? {} : { state: "refused" as const, problem: refused }),
      name,
      group: name,
      ...this.signing.signedIn(),
      prefix,
      tools: standing(isUsable),
      quarantined: standing(({ quarantine }) => quarantine !== undefined),
      resources: this.#offer?.resources.length ?? 0,
      prompts: this.#offer?.prompts.length ?? 0,
    }
  }

  get pins(): McpPin[] {
    return this.#standings.map((standing) => pinOf(this.spec.name, standing))
  }

  /** Connects in the background. */
  start(): void {
    if (this.#isOff()) return
    this.#connection.start()
  }

  /** Tries to connect at once, because somebody signed in or out. */
  again(): void {
    if (!this.#isOff()) this.#connection.again()
  }

  /** Resolves when what it offers is known and pinned, or it could not be had. */
  async known(): Promise<void> {
    if (this.#isOff()) return
    this.#connection.start()
    await this.#connection.settled()
    await this.#work
  }

  /** Nothing of this server is used, for the reason the sentence gives. */
  refuse(sentence: string): void {
    if (this.#refused !== undefined) return
    this.#refused = sentence
    this.#host.logger.warn(`MCP server ${this.spec.name}: ${sentence}`)
    this.#standings = []
    this.#shelf.hold(new Map())
    this.#connection
      .close()
      .catch((error: unknown) => this.#host.logger.error(`${this.spec.name} did not close.`, error))
    this.#tell({ server: this.spec.name, what: "state" })
  }

  /** Reads what is agreed to again, whoever changed it. */
  reload(): void {
    if (this.#isOff()) return
    this.#pins = readPins(this.#host.documents, this.spec.name)
    this.#apply()
  }

  async trust(tool: string | undefined, by: string, shown?: ReadonlySet<string>): Promise<McpPin[]> {
    this.#throwIfOff()
    await this.#connection.ensure()
    await this.#current()
    const { name } = this.spec
    const meant = tool === undefined ? undefined : meantBy(name, this.#standings, tool)
    const chosen = this.#standings.filter(
      ({ upstream, state, seen }) =>
        (meant === undefined ? state !== "pinned" : upstream === meant) && seen !== undefined && !seen.leftOut,
    )
    const pinned = await pinnedNow(
      chosen.map(({ seen }) => seen!),
      by,
    )
    if (shown !== undefined && pinned.some(({ hash }) => !shown.has(hash))) {
      throw new Error(
        `The server '${name}' changed what it offers while you looked, and nothing was agreed to. Look again.`,
      )
    }
    const parts = partsOf(this.#offer)
    await changePins(this.#host.documents, name, by, (pins) => {
      const tools = new Map(pins?.tools)
      if (meant === undefined) for (const old of tools.keys()) if (!this.#seen?.has(old)) tools.delete(old)
      for (const one of pinned) tools.set(one.definition.name, one)
      return { tools, parts }
    })
    const agreed = new Set(pinned.map(({ definition }) => definition.name))
    return this.pins.filter((pin) => agreed.has(pin.tool))
  }

  async subscribe(uri: string): Promise<() => Promise<void>> {
    this.#throwIfOff()
    await this.#connection.ensure()
    return this.#connection.subscribe(uri)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#connection.close()
    await this.#work
  }

  async #meet(): Promise<void> {
    if (this.#isOff()) return
    await this.#connection.ensure().catch(() => {})
    await this.#work
  }

  #isOff(): boolean {
    return this.#closed || this.#refused !== undefined || !this.spec.enabled
  }

  #throwIfOff(): void {
    if (!this.#isOff()) return
    throw new Error(this.#refused ?? `The MCP server ${this.spec.name} is switched off. Set enabled to true to use it.`)
  }

  /** Told by the connection each time it asked what the server offers. What is in force before this returns is the law. */
  #take(offer: Offer): void {
    if (this.#isOff()) return
    const before = this.#offer
    const seen = lookAt(this.spec.name, offer.tools)
    const size = [...seen.values()].reduce((sum, one) => sum + one.size, 0)
    if (size > largestOffer) {
      return this.refuse(`It describes its tools with ${size} characters; ${largestOffer} are the most.`)
    }
    this.#offer = offer
    this.#seen = seen
    this.#apply()
    this.#work = this.#work
      .then(() => this.#keep(offer))
      .catch((error: unknown) => {
        this.#host.logger.error(`What the MCP server ${this.spec.name} offers could not be pinned.`, error)
      })
    for (const what of changedLists(before, offer)) this.#tell({ server: this.spec.name, what })
  }

  /** Pins what a server offers at its first connection, unless a person is to be asked; later only what parts it has. */
  async #keep(offer: Offer): Promise<void> {
    const { name, trust } = this.spec
    const parts = partsOf(offer)
    if (this.#isOff() || offer !== this.#offer) return
    if (this.#pins !== undefined) {
      if (canonicalJson(parts) === canonicalJson(this.#pins.parts)) return
      return changePins(this.#host.documents, name, `mcp:${name}`, (pins) => pins && { ...pins, parts })
    }
    if (trust === "ask") return
    const clean = [...(this.#seen?.values() ?? [])].filter(({ leftOut, hides }) => leftOut === undefined && !hides)
    const pinned = await pinnedNow(clean, "first connection")
    if (this.#isOff()) return
    const tools = new Map(pinned.map((one) => [one.definition.name, one]))
    await changePins(this.#host.documents, name, `mcp:${name}`, (pins) =>
      pins === undefined ? { tools, parts } : undefined,
    )
  }

  /** Makes the registry say what is agreed to and offered. */
  #apply(): void {
    const { name, prefix, trust } = this.spec
    this.#standings = standings(name, this.#seen, this.#pins)
    const shadow = prefix ? undefined : shadowOf(this.#standings, this.#host.registry.wireNames(), this.#shelf)
    if (shadow !== undefined) return this.refuse(shadow)
    // Until the first offer is pinned there is nothing to show.
    if (this.#pins === undefined && (trust === "first" || this.#seen === undefined)) return
    this.#notify()
    const wanted = new Map<string, Wanted>()
    for (const standing of this.#standings) {
      const full = toolName(name, standing.upstream)
      const { leftOut, quarantine, pin } = standing
      if (leftOut !== undefined) continue
      if (quarantine !== undefined) {
        wanted.set(full, { key: quarantine, make: () => quarantinedTool(full, name, quarantine) })
      } else if (pin !== undefined) wanted.set(full, { key: pin.hash, make: () => this.#wrap(pin) })
    }
    for (const part of this.#parts()) wanted.set(part.name, { key: part.quarantine ?? "part", make: () => part })
    if (this.#shelf.hold(wanted)) this.#tell({ server: name, what: "tools" })
  }

  /** Tells the operator once what a person should look at. */
  #notify(): void {
    const notice = noticeOf(this.#standings)
    if (notice === this.#notice) return
    this.#notice = notice
    const { name } = this.spec
    if (notice !== undefined) this.#host.logger.warn(`MCP server ${name}: ${notice} See qm mcp pins list ${name}.`)
  }

  #wrap({ definition, hash }: PinnedTool): Tool {
    const { name, prefix, timeoutMs, url } = this.spec
    return wrapTool(definition, {
      server: name,
      timeoutMs,
      asks: mcpName(name, mcpParts.elicit),
      host: url === undefined ? undefined : new URL(url).hostname,
      wireName: prefix ? undefined : ownWireName(definition.name),
      call: (args, context) =>
        this.#reach.tool(definition.name, args, context, () => this.#refuseAnother(definition.name, hash)),
    })
  }

  /** The connection may have brought another tool by that name since the call was decided on. */
  async #refuseAnother(tool: string, hash: string): Promise<void> {
    await this.#current()
    if (this.#seen?.get(tool)?.hash === hash) return
    const why = this.#standings.find(({ upstream }) => upstream === tool)?.quarantine
    const gone = `The MCP server ${this.spec.name} no longer has '${tool}'. Choose another tool.`
    throw new Ending("tool_not_available", `Nothing was run there. ${why ?? gone}`)
  }

  /** What it offers is known once it is connected; where it is not, it is asked. */
  async #current(): Promise<void> {
    if (this.#seen === undefined) await this.#connection.refresh()
  }

  #parts(): Tool[] {
    const { name, timeoutMs } = this.spec
    const quarantine = this.#pins === undefined ? unagreed(name) : undefined
    const has = partsOf(this.#offer, this.#pins)
    const lists = (uri: string) => this.#offer?.resources.some((one) => one.uri === uri) === true
    return partTools(name, has, { ...this.#reach, lists }, { timeoutMs, quarantine })
  }
}

function isUsable({ leftOut, quarantine }: Standing): boolean {
  return leftOut === undefined && quarantine === undefined
}

function unagreed(server: string): string {
  return `Nobody has agreed to what the MCP server ${server} offers. A person does it: qm mcp pins diff ${server}, then qm mcp pins trust ${server}.`
}
