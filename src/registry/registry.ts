import { ToolNotFoundError } from "../model/errors.ts"
import { silentLogger, type Logger } from "../model/logger.ts"
import type { Alias, AliasSpec, Dialect } from "../model/dialect.ts"
import type { AgentView } from "../model/organisation.ts"
import { strictest, type LevelOrder, type ToolPermission } from "../model/permission.ts"
import type { Layer, RegisteredTool, Tool, ToolCategory, ToolType } from "../model/tool.ts"
import { AliasBook } from "./aliases.ts"
import { circleError, circleIn, lacking, sameNames } from "./dependencies.ts"
import { toLLMTools, type LLMFormat, type LLMTools, type Naming } from "./formats.ts"
import { layersOf, pick, pinOf } from "./lookup.ts"
import { asRegistered, overridden, placeOf } from "./registered.ts"
import { ToolGroupManager, type ToolDefinition } from "./groups.ts"
import { CallStatistics, type ToolCallStats } from "./statistics.ts"
import { newestFirst } from "./versions.ts"
import { namesOutside, type WireNames } from "./wire-names.ts"

export interface RegisterOptions {
  layer?: Layer
  type?: ToolType
  /** Says that a tool of the same name, version and layer is meant to be replaced. */
  replace?: boolean
}

export interface ToolFilter {
  category?: ToolCategory
  type?: ToolType
  group?: string
  /** All of them. */
  tags?: readonly string[]
  layer?: Layer
  version?: string
}

export interface ToolStats {
  total: number
  byCategory: Record<string, number>
  callStats: Record<string, ToolCallStats>
}

export interface RegistryOptions {
  groups?: ToolGroupManager
  logger?: Logger
  levelOrder?: LevelOrder
  /** What the configuration says about single tools, by name. It stands above what their authors said. */
  permissions?: Readonly<Record<string, ToolPermission>>
  /** What a file nobody has trusted yet says about single tools: it counts only where it tightens. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** The only tools that are switched on; undefined means all. */
  enabled?: readonly string[] | undefined
  /** The version of a tool an agent is given by an experiment; neither a pin nor a version it asks for itself. */
  experimentArm?: (tool: string, agentId: string) => string | undefined
  onChange?: (tool: RegisteredTool, change: "registered" | "unregistered") => void
}

type Shelf = Map<string, RegisteredTool[]>

/** Tools by name, version and layer. */
export class ToolRegistry {
  readonly groups: ToolGroupManager
  readonly #options: RegistryOptions
  readonly #logger: Logger
  readonly #layers = new Map<Layer, Shelf>([["system", new Map()]])
  readonly #system: Shelf
  readonly #statistics = new CallStatistics()
  readonly #restricted = new WeakMap<RegisteredTool, WeakMap<RegisteredTool, RegisteredTool>>()
  readonly #aliases = new AliasBook()
  #wire: { version: number; names: WireNames } | undefined
  #version = 0
  /** The names of tools that need others. */
  readonly #needy = new Set<string>()

  constructor(options: RegistryOptions = {}) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.groups = options.groups ?? new ToolGroupManager({ logger: options.logger })
    this.#system = this.#layers.get("system")!
  }

  /** Grows with every change of what is registered. */
  get version(): number {
    return this.#version + this.groups.version
  }

  register(tool: Tool, options: RegisterOptions = {}): RegisteredTool {
    const { layer = "system", replace = false } = options
    this.#refuseTakenName(tool)
    if (!replace && this.#twin(tool, layer) !== undefined) throw alreadyRegistered(tool, layer)
    this.#refuseCircles([tool], layer)
    return this.#enter(tool, options)
  }

  /** What rules say of such a name they say of the tool it means, so nobody else may have it. */
  #refuseTakenName({ name }: Tool): void {
    const meant = this.#aliases.named(name, undefined)?.tool
    if (meant !== undefined && meant !== name)
      throw new Error(`'${name}' is another name of the tool ${meant}. Give the tool a name of its own.`)
  }

  #enter(tool: Tool, { layer = "system", type = "custom" }: RegisterOptions): RegisteredTool {
    const twin = this.#twin(tool, layer)
    const shelf = this.#shelf(layer)
    const others = (shelf.get(tool.name) ?? []).filter((known) => known !== twin)
    const registered = this.#place(tool, layer, type)
    shelf.set(tool.name, newestFirst([...others, registered]))
    this.#version++
    if (isNeedy(tool)) this.#needy.add(tool.name)
    this.#settleNeeds()
    this.#joinGroups(registered, twin)
    this.#logger.info(`Tool registered: ${tool.name}`)
    this.#announce(registered, "registered")
    return registered
  }

  /** Registers all of them or none. */
  registerMany(tools: readonly Tool[], options: RegisterOptions = {}): RegisteredTool[] {
    const { layer = "system", replace = false } = options
    const seen = new Set<string>()
    for (const tool of tools) {
      this.#refuseTakenName(tool)
      const key = `${tool.name}@${tool.version}`
      if (!replace && (seen.has(key) || this.#twin(tool, layer) !== undefined)) throw alreadyRegistered(tool, layer)
      seen.add(key)
    }
    this.#refuseCircles(tools, layer)
    return tools.map((tool) => this.#enter(tool, options))
  }

  /** Removes one version, or all of a layer. Says whether there was anything to remove. */
  unregister(name: string, { layer = "system", version }: { layer?: Layer; version?: string } = {}): boolean {
    const shelf = this.#layers.get(layer)
    const versions = shelf?.get(name) ?? []
    const gone = versions.filter((tool) => version === undefined || tool.version === version)
    if (shelf === undefined || gone.length === 0) return false
    const left = versions.filter((tool) => !gone.includes(tool))
    if (left.length > 0) shelf.set(name, left)
    else shelf.delete(name)
    if (shelf.size === 0 && layer !== "system") this.#layers.delete(layer)
    this.#version++
    this.#settleNeeds()
    if (layer === "system") for (const group of new Set(gone.map((tool) => tool.group))) this.#showIn(group, name)
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
    const { category, type, group, tags = [], layer, version } = filter
    return [...this.#layers.values()]
      .flatMap((shelf) => [...shelf.values()].flat())
      .filter(
        (tool) =>
          (category === undefined || tool.category === category) &&
          (type === undefined || tool.type === type) &&
          (group === undefined || tool.group === group) &&
          (layer === undefined || tool.layer === layer) &&
          (version === undefined || tool.version === version) &&
          tags.every((tag) => tool.tags.includes(tag)),
      )
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
    const newest = [...this.#system.keys()].map((name) => this.require(name))
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
    const at = written.indexOf("@")
    const name = at === -1 ? written : written.slice(0, at)
    const asked = at === -1 ? undefined : written.slice(at + 1)
    const pinned = this.#pinOf(who, name)
    if (pinned !== undefined && asked !== undefined && asked !== pinned) return undefined
    const found = asked === undefined ? this.#given(name, pinned, who) : this.#find(name, asked, who)
    if (found !== undefined) {
      const isOwnWish = asked !== undefined && pinned === undefined && who !== undefined
      const given = isOwnWish ? this.#given(name, pinned, who) : found
      return given === undefined || given === found ? found : this.#cover(found, given)
    }
    const meant = this.wireNames().fromWire(name) ?? this.#aliases.named(name, who?.role.dialect)?.tool
    return meant === undefined || meant === name ? undefined : this.resolve(written.replace(name, meant), who)
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
    yield* this.#system.keys()
  }

  /** The names that could be visible to someone with these groups, so that a list need not look at every tool. */
  *namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string> {
    const seen = new Set<string>()
    const layers = layersOf(who).slice(0, -1)
    const own = layers.flatMap((layer) => [...(this.#layers.get(layer)?.keys() ?? [])])
    const shared = groups === null ? this.#system.keys() : this.#groupNames(groups)
    for (const names of [own, shared]) {
      for (const name of names) {
        if (seen.has(name)) continue
        seen.add(name)
        yield name
      }
    }
  }

  /**
   * A tool of another layer counts by the group it names; one of the system by every group that holds it; one that
   * hides others by all of them.
   */
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean {
    if (groups === null) return true
    if (tool.together !== undefined) return tool.together.every((one) => this.inGroups(one, groups))
    if (tool.layer !== "system") return groups.includes(tool.group)
    const versions = this.#system.get(tool.name) ?? []
    if (!isOfSeveralGroups(versions)) return this.groups.isToolInGroups(tool.name, groups)
    // A group that another version brought its name into says nothing about this one.
    const others = new Set(versions.map(({ group }) => group))
    return groups.some((id) => (id === tool.group || !others.has(id)) && this.groups.isToolInGroups(tool.name, [id]))
  }

  wireNames(): WireNames {
    if (this.#wire?.version !== this.#version) {
      const names = namesOutside(this.#layers.values(), (name) => this.#aliases.has(name))
      this.#wire = { version: this.#version, names }
    }
    return this.#wire.names
  }

  #shelf(layer: Layer): Shelf {
    let shelf = this.#layers.get(layer)
    if (shelf === undefined) this.#layers.set(layer, (shelf = new Map()))
    return shelf
  }

  #place(tool: Tool, layer: Layer, type: ToolType): RegisteredTool {
    const { permissions, tightening, levelOrder } = this.#options
    const trusted = overridden(tool.permission, tool, permissions)
    return asRegistered(tool, {
      id: `${layer}:${tool.name}@${tool.version}`,
      type,
      layer,
      ...this.#on(tool),
      permission: strictest(trusted, overridden(trusted, tool, tightening), levelOrder),
    })
  }

  /** Whether a tool is switched on: by the configuration, and by everything it needs being there. */
  #on(tool: Tool): { enabled: boolean; lacks?: readonly string[] } {
    const { enabled } = this.#options
    const isWanted = enabled === undefined || enabled.includes(tool.name)
    if (!isNeedy(tool)) return { enabled: isWanted }
    const lacks = lacking(tool, (name, version) => this.#has(name, version) || this.#has(this.nameOf(name), version))
    return { enabled: isWanted && lacks.length === 0, lacks }
  }

  #has(name: string, version: string | undefined): boolean {
    return [...this.#layers.values()].some((shelf) => pick(shelf.get(name), version) !== undefined)
  }

  #refuseCircles(tools: readonly Tool[], layer: Layer): void {
    if (!tools.some(isNeedy)) return
    const known = [...this.#layers].flatMap(([place, shelf]) =>
      [...this.#needy].flatMap((name) => {
        const isReplaced = (one: Tool) => place === layer && tools.some((tool) => isTwin(tool, one))
        return (shelf.get(name) ?? []).filter((one) => !isReplaced(one))
      }),
    )
    const circle = circleIn(known, tools)
    if (circle !== undefined) throw circleError(tools.find(({ name }) => circle.includes(name)) ?? tools[0]!, circle)
  }

  /** Switches tools on whose last need has come, and off those whose need has gone. */
  #settleNeeds(): void {
    for (const name of this.#needy) {
      for (const shelf of this.#layers.values()) {
        const versions = shelf.get(name) ?? []
        if (versions.every((tool) => sameNames(tool.lacks, this.#on(tool).lacks))) continue
        const settled = versions.map((tool) => {
          return asRegistered(tool, { ...placeOf(tool), permission: tool.permission, ...this.#on(tool) })
        })
        shelf.set(name, settled)
        this.#version++
      }
    }
  }

  #twin({ name, version }: Tool, layer: Layer): RegisteredTool | undefined {
    return this.#layers
      .get(layer)
      ?.get(name)
      ?.find((known) => known.version === version)
  }

  #joinGroups(tool: RegisteredTool, replaced: RegisteredTool | undefined): void {
    if (tool.layer !== "system") {
      if (!this.groups.hasGroup(tool.group)) this.groups.registerGroup(tool.group, { description: "", tools: [] })
      return
    }
    if (replaced !== undefined && replaced.group !== tool.group) this.#showIn(replaced.group, tool.name)
    this.#showIn(tool.group, tool.name)
  }

  /** A group shows the newest version that names it, and lets go of a tool that no version places there any more. */
  #showIn(group: string, name: string): void {
    const newest = this.#system.get(name)?.find((tool) => tool.group === group)
    if (newest === undefined) this.groups.removeTool(group, name)
    else this.groups.addTool(group, definitionOf(newest))
  }

  /** A listener that fails does not undo the change it was told of. */
  #announce(tool: RegisteredTool, change: "registered" | "unregistered"): void {
    try {
      this.#options.onChange?.(tool, change)
    } catch (error) {
      this.#logger.error("A listener to tool changes failed; the change itself stands.", { tool: tool.id, error })
    }
  }

  *#groupNames(groups: readonly string[]): Iterable<string> {
    for (const group of groups) yield* this.groups.toolNamesOf(group)
  }

  /** A pin by another name of a tool is one of the tool. */
  #pinOf(who: AgentView | undefined, name: string): string | undefined {
    if (who === undefined) return undefined
    const other = Object.keys(who.pins).find((key) => this.#aliases.named(key, undefined)?.tool === name)
    return pinOf(who, name) ?? (other === undefined ? undefined : who.pins[other])
  }

  #find(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    if (this.#layers.size === 1) return pick(this.#among(this.#system.get(name), who), version)
    return this.#resolveLayers(name, version, who)
  }

  /**
   * What an agent is given that asks for no version: the one it is held to, else its arm of an experiment, else the
   * newest. An experiment with a tool does not reach past one that covers it.
   */
  #given(name: string, pinned: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const usual = this.#find(name, pinned, who)
    if (usual === undefined || pinned !== undefined || who === undefined) return usual
    const version = this.#options.experimentArm?.(name, who.agent.id)
    if (version === undefined || version === usual.version) return usual
    const arm = this.#find(name, version, who)
    return arm?.enabled === true && arm.layer === usual.layer ? arm : usual
  }

  /** Of versions in several groups, those in the agent's own; where it has none of them, all. */
  #among(versions: RegisteredTool[] | undefined, who: AgentView | undefined): RegisteredTool[] | undefined {
    const groups = who?.groups ?? null
    if (versions === undefined || groups === null || !isOfSeveralGroups(versions)) return versions
    const own = versions.filter((one) => this.inGroups(one, groups))
    return own.length === 0 ? versions : own
  }

  /** A version that only an upper layer has still hides what the layers below offer by that name. */
  #resolveLayers(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const shelves = layersOf(who).flatMap((layer) => {
      const versions = this.#among(this.#layers.get(layer)?.get(name), who)
      return versions === undefined ? [] : [versions]
    })
    const first = shelves.findIndex((versions) => pick(versions, version) !== undefined)
    if (first === -1) return undefined
    const found = shelves.slice(first).map((versions) => pick(versions, version) ?? pick(versions, undefined)!)
    return found.reduceRight((below, tool) => this.#cover(tool, below))
  }

  /** The tool with every restriction of the one it hides. */
  #cover(tool: RegisteredTool, below: RegisteredTool): RegisteredTool {
    let known = this.#restricted.get(tool)
    if (known === undefined) this.#restricted.set(tool, (known = new WeakMap()))
    let covered = known.get(below)
    if (covered === undefined) {
      const permission = strictest(tool.permission, below.permission, this.#options.levelOrder)
      const together = [...new Set([tool, below].flatMap((one) => one.together ?? [one]))]
      const lacks = [...(tool.lacks ?? []), ...(below.lacks ?? [])]
      const enabled = tool.enabled && below.enabled
      covered = asRegistered(tool, { ...placeOf(tool), enabled, lacks, permission, together })
      known.set(below, covered)
    }
    return covered
  }
}

function isNeedy({ dependsOn = [] }: Tool): boolean {
  return dependsOn.length > 0
}

function isTwin(one: Tool, other: Tool): boolean {
  return one.name === other.name && one.version === other.version
}

function isOfSeveralGroups(versions: readonly RegisteredTool[]): boolean {
  return versions.length > 1 && versions.some(({ group }) => group !== versions[0]!.group)
}

function alreadyRegistered({ name, version }: Tool, layer: Layer): Error {
  return new Error(
    `Tool '${name}' already registered (version ${version}, layer ${layer}). Say replace, or give it another version.`,
  )
}

function definitionOf(tool: RegisteredTool): ToolDefinition {
  return {
    type: "function",
    function: {
      name: tool.name,
      get description() {
        return tool.description
      },
      get parameters() {
        return tool.input.json
      },
    },
  }
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
