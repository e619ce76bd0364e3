import type { Alias, AliasSpec, Dialect } from "./dialects/dialect.ts"
import { ToolNotFoundError } from "../core/errors.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import type { AgentView } from "../core/organisation.ts"
import type { DialectNames } from "../core/dialect-text.ts"
import {
  ToolCategory,
  type Layer,
  type RegisteredTool,
  type Tool,
  type ToolType,
  type TypedTool,
} from "../core/tool.ts"
import { Aliases } from "./aliases.ts"
import { matchesFilter, type ToolFilter } from "./tool-filter.ts"
import { toLLMTools, type LLMFormat, type LLMTools, type WireNaming } from "./formats.ts"
import { ToolGroupManager } from "./groups.ts"
import { Lookup } from "./lookup.ts"
import { GroupMembership } from "./group-membership.ts"
import { DependencyTracker } from "./dependency-tracker.ts"
import { registeredTool, withMissingDependencies, type ToolSettings } from "./registered-tool.ts"
import { nameOf, recogniseTool, whatIsMissing, type AnyTool } from "./recognise-tool.ts"
import { ToolLayers } from "./tool-layers.ts"
import { CallStatistics, type ToolCallStats } from "./statistics.ts"
import { buildWireNames, type WireNames } from "./wire-names.ts"

export interface RegisterOptions {
  /** Default: `system`, for every agent. */
  layer?: Layer
  type?: ToolType
  /** The group of a tool that names none itself (default: `custom`). */
  group?: string
  /** True replaces a tool of the same name, version and layer. Without it, registering that tool again throws. */
  replace?: boolean
}

export interface ToolStats {
  total: number
  /** Every category, also those without a tool. */
  byCategory: Record<ToolCategory, number>
  callStats: Record<string, ToolCallStats>
}

export interface RegistryOptions extends ToolSettings {
  groups?: ToolGroupManager
  logger?: Logger
  /** The version that an experiment gives to an agent. Pins and versions that a call names come first. */
  experimentArm?: (tool: string, agentId: string) => string | undefined
  onChange?: (tool: RegisteredTool, change: "registered" | "unregistered") => void
}

/**
 * All tools, by name, version and layer.
 *
 * ```ts
 * app.registry.register(defineTool({ name: "greet", group: "demo", … }))
 * app.registry.get("greet")
 * app.registry.list({ group: "demo" })
 * ```
 */
export class ToolRegistry {
  readonly groups: ToolGroupManager
  readonly #options: RegistryOptions
  readonly #logger: Logger
  readonly #layers = new ToolLayers()
  readonly #aliases = new Aliases()
  readonly #dependencies = new DependencyTracker(this.#layers, (written) => this.canonicalName(written))
  readonly #membership: GroupMembership
  readonly #lookup: Lookup
  readonly #statistics = new CallStatistics()
  #wire: { version: number; names: WireNames } | undefined
  #version = 0

  constructor(options: RegistryOptions = {}) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.groups = options.groups ?? new ToolGroupManager({ logger: options.logger })
    const membership = new GroupMembership(this.#layers, this.groups)
    this.#membership = membership
    this.#lookup = new Lookup({
      layers: this.#layers,
      aliases: this.#aliases,
      wireNames: () => this.wireNames(),
      versionsFor: (versions, who) => membership.versionsFor(versions, who),
      experimentArm: options.experimentArm,
      levelOrder: options.levelOrder,
    })
  }

  /** Grows with every change of what is registered. */
  get version(): number {
    return this.#version + this.groups.version
  }

  /** Registers a tool of `defineTool`, or one in the form of any of the five source designs. */
  register<Input, Output>(
    tool: TypedTool<Input, Output>,
    options?: RegisterOptions,
  ): RegisteredTool & TypedTool<Input, Output>
  register(tool: AnyTool, options?: RegisterOptions): RegisteredTool
  register(tool: AnyTool, options: RegisterOptions = {}): RegisteredTool {
    return this.registerMany([tool], options)[0]!
  }

  /** Registers all of them or none. */
  registerMany(given: readonly AnyTool[], options: RegisterOptions = {}): RegisteredTool[] {
    const { layer = "system", replace = false, group = "custom" } = options
    const tools = given.map((tool) => asTool(tool, group))
    const keys = new Set<string>()
    for (const tool of tools) {
      this.#refuseTakenName(tool)
      const key = `${tool.name}@${tool.version}`
      const exists = keys.has(key) || this.#layers.find(tool, layer) !== undefined
      if (!replace && exists) throw alreadyRegistered(tool, layer)
      keys.add(key)
    }
    this.#dependencies.refuseCycles(tools, layer)
    const [only] = tools
    const what = tools.length === 1 ? `Tool registered: ${only!.name}` : `${tools.length} tools registered.`
    const registered = tools.map((tool) => this.#add(tool, options))
    if (tools.length > 0) this.#logger.info(what)
    return registered
  }

  /** Removes one version, or all versions in a layer. Returns whether there was one. */
  unregister(name: string, { layer = "system", version }: { layer?: Layer; version?: string } = {}): boolean {
    const removed = this.#layers.remove(name, version, layer)
    if (removed.length === 0) return false
    this.#version++
    this.#updateDependents()
    this.#membership.leave(removed)
    for (const tool of removed) this.#announce(tool, "unregistered")
    return true
  }

  /**
   * The newest version in the layer `system`. `name@version` gets that version. A tool of an MCP server is also found by the
   * name its server gives it, if no other server has a tool of that name.
   */
  get(name: string): RegisteredTool | undefined {
    return this.resolve(name, undefined) ?? this.#byBareMcpName(name)
  }

  /** The same as `get`. */
  getTool(name: string): RegisteredTool | undefined {
    return this.get(name)
  }

  /** Like `get`, but throws a `ToolNotFoundError`. */
  require(name: string): RegisteredTool {
    const tool = this.get(name)
    if (tool === undefined) throw new ToolNotFoundError(name)
    return tool
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** All tools of all layers and versions that match the filter, sorted by name. */
  list(filter: ToolFilter = {}): RegisteredTool[] {
    return this.#layers
      .all()
      .filter((tool) => matchesFilter(tool, filter))
      .sort((one, other) => compareText(one.name, other.name) || compareText(one.id, other.id))
  }

  listByCategory(category: ToolCategory): RegisteredTool[] {
    return this.list({ category })
  }

  listByTags(tags: readonly string[], matchAll = true): RegisteredTool[] {
    if (matchAll) return this.list({ tags })
    return this.list().filter((tool) => tags.some((tag) => tool.tags.includes(tag)))
  }

  /** The tools of the layer `system` in the format of a model provider. For the tools of one agent, use `app.toolsFor`. */
  toLLMTools<Format extends LLMFormat = "openai">({ format }: { format?: Format } = {}): LLMTools[Format] {
    const newest = [...this.#layers.system.keys()].map((name) => this.require(name))
    const enabled = newest.filter((tool) => tool.enabled)
    return toLLMTools(enabled, (format ?? "openai") as Format, this.wireNames())
  }

  /** Names, descriptions and parameters, for a prompt. */
  getToolDescriptions(): LLMTools["flat"] {
    return this.toLLMTools({ format: "flat" })
  }

  getStats(): ToolStats {
    const all = this.list()
    const byCategory = Object.fromEntries(Object.values(ToolCategory).map((category) => [category, 0]))
    for (const { category } of all) byCategory[category] = (byCategory[category] ?? 0) + 1
    return { total: all.length, byCategory: byCategory as ToolStats["byCategory"], callStats: this.#statistics.read() }
  }

  /** Counts a run for `getStats`. */
  count(tool: RegisteredTool, durationMs: number, error: string | undefined): void {
    this.#statistics.count(tool.name, durationMs, error)
  }

  /**
   * The tool with this name for an agent: from its own layer, its department's, or the system's. `name@version` gets that
   * version, unless the agent is pinned to another. A version that an agent chooses itself keeps every restriction of the
   * version it would get by default.
   */
  resolve(written: string, who: AgentView | undefined): RegisteredTool | undefined {
    return this.#lookup.resolve(written, who)
  }

  /** The tool's own name for a wire name or alias. An unknown name is returned as it is. */
  canonicalName(written: string): string {
    const [name = written] = written.split("@", 1)
    return this.wireNames().fromWire(name) ?? this.#aliases.find(name, undefined)?.tool ?? name
  }

  /** Adds aliases. No tool may then be registered under such a name. */
  registerAliases(aliases: readonly AliasSpec[]): void {
    this.#aliases.add(aliases)
    this.#version++
  }

  /** Removes a name that stands for another tool in some dialect. A tool may then be registered under it. */
  unregisterAlias(name: string): void {
    this.#aliases.remove(name)
    this.#version++
  }

  alias(written: string, who: AgentView | undefined): Alias | undefined {
    const [name = written] = written.split("@", 1)
    return this.#aliases.find(name, who?.role.dialect)
  }

  dialectNames(dialect: string): DialectNames | undefined {
    return this.#aliases.dialectNames(dialect)
  }

  /** The tool under its name in the agent's dialect, with that alias's parameters and results. */
  inDialectOf(who: AgentView | undefined, tool: RegisteredTool): RegisteredTool {
    const dialect = who?.role.dialect as Dialect | undefined
    const alias = dialect === undefined ? undefined : this.#aliases.forTool(tool.name, dialect)
    return alias === undefined ? tool : this.#aliases.apply(alias, tool)
  }

  /** The names that models see, including those of aliases. */
  wireNamesWithAliases(): WireNaming {
    const names = this.wireNames()
    return { toWire: (name) => (this.#aliases.has(name) ? name : names.toWire(name)) }
  }

  *names(): Iterable<string> {
    yield* this.#layers.system.keys()
  }

  /** The names of tools that an agent with these groups may be able to see, so that listing need not check every tool. */
  namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string> {
    return this.#membership.namesIn(groups, who)
  }

  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean {
    return this.#membership.inGroups(tool, groups)
  }

  wireNames(): WireNames {
    if (this.#wire?.version !== this.#version) {
      const names = buildWireNames(this.#layers.layers(), (name) => this.#aliases.has(name))
      this.#wire = { version: this.#version, names }
    }
    return this.#wire.names
  }

  #byBareMcpName(bare: string): RegisteredTool | undefined {
    const names = [...this.#layers.system].flatMap(([name, [tool]]) => (tool?.mcp?.name === bare ? [name] : []))
    return names.length === 1 ? this.resolve(names[0]!, undefined) : undefined
  }

  /** Rules that name an alias apply to its tool, so no other tool may have that name. */
  #refuseTakenName({ name }: Tool): void {
    const aliased = this.#aliases.find(name, undefined)?.tool
    if (aliased !== undefined && aliased !== name)
      throw new Error(`'${name}' is another name of the tool ${aliased}. Give the tool a name of its own.`)
  }

  #add(tool: Tool, { layer = "system", type = "custom" }: RegisterOptions): RegisteredTool {
    const replaced = this.#layers.find(tool, layer)
    const registered = registeredTool(tool, { layer, type }, this.#dependencies.missingFor(tool), this.#options)
    this.#layers.put(registered)
    this.#version++
    this.#dependencies.track(tool)
    this.#updateDependents()
    this.#membership.join(registered, replaced)
    this.#announce(registered, "registered")
    return registered
  }

  /** Enables tools whose dependencies are now all registered, and disables those that lost one. */
  #updateDependents(): void {
    for (const tool of this.#dependencies.changedTools()) {
      this.#layers.update(withMissingDependencies(tool, this.#dependencies.missingFor(tool), this.#options))
      this.#version++
    }
  }

  /** A listener that throws does not undo the change. */
  #announce(tool: RegisteredTool, change: "registered" | "unregistered"): void {
    try {
      this.#options.onChange?.(tool, change)
    } catch (error) {
      this.#logger.error("A listener to tool changes failed; the change itself stands.", { tool: tool.id, error })
    }
  }
}

function asTool(given: AnyTool, group: string): Tool {
  const missing = whatIsMissing(given)
  if (missing === undefined) return recogniseTool(given, { group, believesAuthor: true })
  const name = nameOf(given)
  throw new TypeError(`${name === undefined ? "This" : `The tool '${name}'`} cannot be registered: ${missing}`)
}

function alreadyRegistered({ name, version }: Tool, layer: Layer): Error {
  return new Error(
    `Tool '${name}' already registered (version ${version}, layer ${layer}). Pass replace: true, or give it another version.`,
  )
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
