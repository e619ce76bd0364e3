import type { Alias, AliasSpec, Dialect } from "../model/dialect.ts"
import { ToolNotFoundError } from "../model/errors.ts"
import { silentLogger, type Logger } from "../model/logger.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Names } from "../model/renamed.ts"
import type { Layer, RegisteredTool, Tool, ToolCategory, ToolType } from "../model/tool.ts"
import { AliasBook } from "./aliases.ts"
import { fits, type ToolFilter } from "./filter.ts"
import { toLLMTools, type LLMFormat, type LLMTools, type Naming } from "./formats.ts"
import { ToolGroupManager } from "./groups.ts"
import { Lookup } from "./lookup.ts"
import { Membership } from "./membership.ts"
import { Needs } from "./needs.ts"
import { registeredTool, withLacks, type ToolSettings } from "./registered.ts"
import { Shelves } from "./shelves.ts"
import { CallStatistics, type ToolCallStats } from "./statistics.ts"
import { namesOutside, type WireNames } from "./wire-names.ts"

export interface RegisterOptions {
  layer?: Layer
  type?: ToolType
  /** Says that a tool of the same name, version and layer is meant to be replaced. */
  replace?: boolean
}

export interface ToolStats {
  total: number
  byCategory: Record<string, number>
  callStats: Record<string, ToolCallStats>
}

export interface RegistryOptions extends ToolSettings {
  groups?: ToolGroupManager
  logger?: Logger
  /** The version of a tool an agent is given by an experiment; neither a pin nor a version it asks for itself. */
  experimentArm?: (tool: string, agentId: string) => string | undefined
  onChange?: (tool: RegisteredTool, change: "registered" | "unregistered") => void
}

/** Tools by name, version and layer. */
export class ToolRegistry {
  readonly groups: ToolGroupManager
  readonly #options: RegistryOptions
  readonly #logger: Logger
  readonly #shelves = new Shelves()
  readonly #aliases = new AliasBook()
  readonly #needs = new Needs(this.#shelves, (written) => this.nameOf(written))
  readonly #membership: Membership
  readonly #lookup: Lookup
  readonly #statistics = new CallStatistics()
  #wire: { version: number; names: WireNames } | undefined
  #version = 0

  constructor(options: RegistryOptions = {}) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.groups = options.groups ?? new ToolGroupManager({ logger: options.logger })
    const membership = new Membership(this.#shelves, this.groups)
    this.#membership = membership
    this.#lookup = new Lookup({
      shelves: this.#shelves,
      aliases: this.#aliases,
      wireNames: () => this.wireNames(),
      among: (versions, who) => membership.among(versions, who),
      experimentArm: options.experimentArm,
      levelOrder: options.levelOrder,
    })
  }

  /** Grows with every change of what is registered. */
  get version(): number {
    return this.#version + this.groups.version
  }

  register(tool: Tool, options: RegisterOptions = {}): RegisteredTool {
    return this.registerMany([tool], options)[0]!
  }

  /** Registers all of them or none. */
  registerMany(tools: readonly Tool[], options: RegisterOptions = {}): RegisteredTool[] {
    const { layer = "system", replace = false } = options
    const seen = new Set<string>()
    for (const tool of tools) {
      this.#refuseTakenName(tool)
      const key = `${tool.name}@${tool.version}`
      const isThere = seen.has(key) || this.#shelves.twin(tool, layer) !== undefined
      if (!replace && isThere) throw alreadyRegistered(tool, layer)
      seen.add(key)
    }
    this.#needs.refuseCircles(tools, layer)
    return tools.map((tool) => this.#enter(tool, options))
  }

  /** Removes one version, or all of a layer. Says whether there was anything to remove. */
  unregister(name: string, { layer = "system", version }: { layer?: Layer; version?: string } = {}): boolean {
    const gone = this.#shelves.take(name, version, layer)
    if (gone.length === 0) return false
    this.#version++
    this.#settleNeeds()
    this.#membership.leave(gone)
    for (const tool of gone) this.#announce(tool, "unregistered")
    return true
  }

  /** The system's newest tool of that name. `name@version` means just that version. */
  get(name: string): RegisteredTool | undefined {
    return this.resolve(name, undefined)
  }

  /** S2's name for `get`. */
  getTool(name: string): RegisteredTool | undefined {
    return this.get(name)
  }

  require(name: string): RegisteredTool {
    const tool = this.get(name)
    if (tool === undefined) throw new ToolNotFoundError(name)
    return tool
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** Every tool of every layer and version that fits all parts of the filter, in the order of their names. */
  list(filter: ToolFilter = {}): RegisteredTool[] {
    return this.#shelves
      .all()
      .filter((tool) => fits(tool, filter))
      .sort((one, other) => compareText(one.name, other.name) || compareText(one.id, other.id))
  }

  listByCategory(category: ToolCategory): RegisteredTool[] {
    return this.list({ category })
  }

  listByTags(tags: readonly string[], matchAll = true): RegisteredTool[] {
    if (matchAll) return this.list({ tags })
    return this.list().filter((tool) => tags.some((tag) => tool.tags.includes(tag)))
  }

  /** What a provider is sent for the system's tools. Agents are given their own list by `toolsFor`. */
  toLLMTools<Format extends LLMFormat = "openai">({ format }: { format?: Format } = {}): LLMTools[Format] {
    const newest = [...this.#shelves.system.keys()].map((name) => this.require(name))
    const enabled = newest.filter((tool) => tool.enabled)
    return toLLMTools(enabled, (format ?? "openai") as Format, this.wireNames())
  }

  /** S2's list for a prompt. */
  getToolDescriptions(): LLMTools["flat"] {
    return this.toLLMTools({ format: "flat" })
  }

  getStats(): ToolStats {
    const all = this.list()
    const byCategory = new Map<string, number>()
    for (const { category } of all) byCategory.set(category, (byCategory.get(category) ?? 0) + 1)
    return { total: all.length, byCategory: Object.fromEntries(byCategory), callStats: this.#statistics.read() }
  }

  count(tool: RegisteredTool, durationMs: number, error: string | undefined): void {
    this.#statistics.count(tool.name, durationMs, error)
  }

  /**
   * The tool this agent means: its own layer's, its department's, the system's. `name@version` means just that version;
   * an agent that is held to a version has no other. One that an agent asks for itself has every restriction of the one
   * it would have been given.
   */
  resolve(written: string, who: AgentView | undefined): RegisteredTool | undefined {
    return this.#lookup.resolve(written, who)
  }

  /** The name of the tool that is meant by its own name or its wire name, whatever layer it is in; else the same. */
  nameOf(written: string): string {
    const [name = written] = written.split("@", 1)
    return this.wireNames().fromWire(name) ?? this.#aliases.named(name, undefined)?.tool ?? name
  }

  /** Gives tools other names, which no tool may have as its own. */
  registerAliases(aliases: readonly AliasSpec[]): void {
    this.#aliases.add(aliases)
    this.#version++
  }

  alias(written: string, who: AgentView | undefined): Alias | undefined {
    const [name = written] = written.split("@", 1)
    return this.#aliases.named(name, who?.role.dialect)
  }

  spoken(dialect: string): Names | undefined {
    return this.#aliases.spoken(dialect)
  }

  /** A tool as an agent is shown it: by the name its model is used to, with that name's parameters and results. */
  shownTo(who: AgentView | undefined, tool: RegisteredTool): RegisteredTool {
    const dialect = who?.role.dialect as Dialect | undefined
    const alias = dialect === undefined ? undefined : this.#aliases.of(tool.name, dialect)
    return alias === undefined ? tool : this.#aliases.shown(alias, tool)
  }

  /** What tools are called outside, also those that are shown by another name. */
  naming(): Naming {
    const names = this.wireNames()
    return { toWire: (name) => (this.#aliases.has(name) ? name : names.toWire(name)) }
  }

  *names(): Iterable<string> {
    yield* this.#shelves.system.keys()
  }

  /** The names that could be visible to someone with these groups, so that a list need not look at every tool. */
  namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string> {
    return this.#membership.namesIn(groups, who)
  }

  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean {
    return this.#membership.inGroups(tool, groups)
  }

  wireNames(): WireNames {
    if (this.#wire?.version !== this.#version) {
      const names = namesOutside(this.#shelves.each(), (name) => this.#aliases.has(name))
      this.#wire = { version: this.#version, names }
    }
    return this.#wire.names
  }

  /** What rules say of such a name they say of the tool it means, so nobody else may have it. */
  #refuseTakenName({ name }: Tool): void {
    const meant = this.#aliases.named(name, undefined)?.tool
    if (meant !== undefined && meant !== name)
      throw new Error(`'${name}' is another name of the tool ${meant}. Give the tool a name of its own.`)
  }

  #enter(tool: Tool, { layer = "system", type = "custom" }: RegisterOptions): RegisteredTool {
    const replaced = this.#shelves.twin(tool, layer)
    const registered = registeredTool(tool, { layer, type }, this.#needs.lackOf(tool), this.#options)
    this.#shelves.put(registered)
    this.#version++
    this.#needs.remember(tool)
    this.#settleNeeds()
    this.#membership.join(registered, replaced)
    this.#logger.info(`Tool registered: ${tool.name}`)
    this.#announce(registered, "registered")
    return registered
  }

  /** Switches tools on whose last need has come, and off those whose need has gone. */
  #settleNeeds(): void {
    for (const tool of this.#needs.changed()) {
      this.#shelves.renew(withLacks(tool, this.#needs.lackOf(tool), this.#options))
      this.#version++
    }
  }

  /** A listener that fails does not undo the change it was told of. */
  #announce(tool: RegisteredTool, change: "registered" | "unregistered"): void {
    try {
      this.#options.onChange?.(tool, change)
    } catch (error) {
      this.#logger.error("A listener to tool changes failed; the change itself stands.", { tool: tool.id, error })
    }
  }
}

function alreadyRegistered({ name, version }: Tool, layer: Layer): Error {
  return new Error(
    `Tool '${name}' already registered (version ${version}, layer ${layer}). Say replace, or give it another version.`,
  )
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
