import { silentLogger, type Logger } from "../../core/logger.ts"
import type { LoadingPlugin, PluginEntry, PluginState } from "./plugin.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ToolRegistry } from "../registry.ts"
import { pluginDigest } from "./find-plugin.ts"
import type { ReadPlugin } from "./read-plugin.ts"
import {
  preparePlugin,
  errorSentence,
  stopPlugin,
  type PluginEntryOptions,
  type ReadyPlugin,
  type PluginSource,
  type PluginStartOptions,
} from "./start-plugin.ts"
import { watchPlugin } from "./watch-plugin.ts"

export interface PluginOptions extends PluginStartOptions {
  /** Called before the tools are registered. When it throws, the plugin is not loaded. */
  onLoading?: (plugin: LoadingPlugin) => unknown
  /** Reloads a plugin when its file changes. A file that cannot be loaded leaves the old version running. */
  watch?: boolean
}

interface Loaded extends ReadyPlugin {
  readonly ids: readonly string[]
  readonly loadedAt: number
  /** Why the newest version of its file does not run. */
  problem?: string
  stopWatching?: () => void
}

/**
 * Loads plugins and modules: files that add tools. A plugin runs with all rights of this process, so load only trusted code.
 * Either all tools of a plugin are registered or none. They are in the plugin's own group, which exists while it is loaded.
 *
 * ```ts
 * const plugins = new PluginManager(app.registry)
 * await plugins.loadPlugin("./plugins/weather.mjs", { config: { units: "metric" } })
 * ```
 */
export class PluginManager {
  readonly #registry: ToolRegistry
  readonly #options: PluginOptions
  readonly #logger: Logger
  readonly #loaded = new Map<string, Loaded>()
  readonly #failed = new Map<string, PluginState>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(registry: ToolRegistry, options: PluginOptions = {}) {
    this.#registry = registry
    this.#logger = options.logger ?? silentLogger
    const own = { toolGroupManager: registry.groups, log: this.#logger }
    const { runtime = own } = options
    // The fields may be getters, which make something when they are first read.
    const runtimeFor = (plugin: string): unknown =>
      typeof runtime === "function"
        ? Object.defineProperties({ ...own }, Object.getOwnPropertyDescriptors(runtime(plugin)))
        : runtime
    this.#options = { ...options, runtime: runtimeFor }
  }

  /** Loads a file, a folder, an installed package or a plugin object. Rejects with a sentence when it cannot be loaded. */
  async loadPlugin(given: string | object, about: PluginEntryOptions = {}): Promise<PluginState> {
    const entry = typeof given === "string" ? { ...about, path: given } : undefined
    const preparing = this.#prepare(entry === undefined ? { object: given as object, about } : { entry })
    // It may fail before its turn; the rejection is handled below.
    preparing.catch(() => {})
    const state = await this.#inTurn(async () => this.#register(await preparing))
    if (entry !== undefined) this.#failed.delete(entry.path)
    return state
  }

  /** Unregisters the plugin's tools and group, waits for its running calls, and shuts it down. */
  async unloadPlugin(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const loaded = this.#loaded.get(name)
      if (loaded === undefined) return false
      this.#remove(loaded)
      await stopPlugin(loaded, this.#options)
      return true
    })
  }

  /** Loads plugins in parallel and registers them in the given order. One that fails is shown as failed and affects no other. */
  async loadAll(entries: readonly PluginEntry[]): Promise<readonly PluginState[]> {
    const loading = entries.map((entry) =>
      this.loadPlugin(entry.path, entry).catch((error: unknown) => this.#fail(entry, error)),
    )
    return Promise.all(loading)
  }

  /** Loads modules from a list of paths or entries, or from an object of paths and their configuration. */
  loadModules(modules: readonly (string | PluginEntry)[] | Readonly<Record<string, unknown>>) {
    const entries = Array.isArray(modules)
      ? modules.map((one: string | PluginEntry) => (typeof one === "string" ? { path: one } : one))
      : Object.entries(modules).map(([path, config]) => ({ path, config: config as Record<string, unknown> }))
    return this.loadAll(entries)
  }

  /** The loaded plugins, then those that failed. */
  list(): PluginState[] {
    return [...[...this.#loaded.values()].map(stateOf), ...this.#failed.values()]
  }

  get(name: string): PluginState | undefined {
    return this.list().find((state) => state.name === name)
  }

  /** Unloads all plugins and shuts them down in parallel. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      const all = [...this.#loaded.values()].toReversed()
      for (const loaded of all) this.#remove(loaded)
      await Promise.all(all.map((loaded) => stopPlugin(loaded, this.#options)))
    })
  }

  /** Runs one change after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    return mine
  }

  #fail(entry: PluginEntry, error: unknown): PluginState {
    const problem = errorSentence(error)
    const { path, layer = "system" } = entry
    const state: PluginState = { name: path, given: path, layer, state: "failed", tools: [], problem }
    this.#failed.set(path, state)
    this.#logger.error(`The plugin ${path} was not loaded: ${problem}`)
    return state
  }

  #prepare(source: PluginSource): Promise<ReadyPlugin> {
    const entry = "entry" in source ? source.entry : undefined
    return preparePlugin(source, (plugin) => this.#refuseTakenGroup(plugin, entry), this.#options)
  }

  #refuseTakenGroup({ name, group }: ReadPlugin, entry: PluginEntry | undefined): void {
    const { groups } = this.#registry
    const own = this.#loaded.get(name)
    if (own !== undefined && entry !== undefined && own.entry === entry && own.plugin.group === group) return
    if (own !== undefined) throw new Error(`There is a plugin '${name}' already. Unload it first, or rename one.`)
    if (groups.isReservedGroup(group)) {
      throw new Error(`'${group}' is the name of a built-in group. Give the plugin another name.`)
    }
    if (groups.hasGroup(group)) throw new Error(`There is a group '${group}' already. Give the plugin another name.`)
  }

  /** Registers all tools of a prepared plugin, or shuts it down again. */
  async #register(ready: ReadyPlugin): Promise<PluginState> {
    try {
      this.#refuseTakenGroup(ready.plugin, ready.entry)
      await this.#options.onLoading?.(loadingOf(ready))
      const loaded = this.#addTools(ready)
      this.#watch(loaded)
      return stateOf(loaded)
    } catch (error) {
      await stopPlugin(ready, this.#options)
      throw error
    }
  }

  #addTools(ready: ReadyPlugin): Loaded {
    const { plugin, tools, layer } = ready
    const { groups } = this.#registry
    groups.registerGroup(plugin.group, { description: plugin.description, tools: [] })
    try {
      const registered = this.#registry.registerMany(tools, { layer, type: "custom" })
      const loaded = { ...ready, ids: registered.map(({ id }) => id), loadedAt: Date.now() }
      this.#loaded.set(plugin.name, loaded)
      return loaded
    } catch (error) {
      this.#unregister(ready)
      throw error
    }
  }

  #remove(loaded: Loaded): void {
    loaded.stopWatching?.()
    this.#loaded.delete(loaded.plugin.name)
    this.#unregister(loaded)
  }

  /** Removes only the plugin's own tools: someone may have replaced one. */
  #unregister({ tools, layer, plugin }: ReadyPlugin): void {
    for (const { name, version, execute } of tools) {
      const isOwn = (one: RegisteredTool) => one.name === name && one.execute === execute
      if (this.#registry.list({ layer, version }).some(isOwn)) this.#registry.unregister(name, { layer, version })
    }
    const { groups } = this.#registry
    if (groups.getGroup(plugin.group)?.toolCount === 0) groups.unregisterGroup(plugin.group)
  }

  #watch(loaded: Loaded): void {
    const { found } = loaded
    if (this.#options.watch !== true || found === undefined) return
    loaded.stopWatching = watchPlugin(found, () => void this.#reload(loaded.plugin.name))
  }

  /** Replaces the old version by the new one. If that cannot be loaded, the old one stays. */
  async #reload(name: string): Promise<void> {
    const old = this.#loaded.get(name)
    if (old?.entry === undefined || old.found === undefined) return
    try {
      if ((await pluginDigest(old.found)).sha256 === old.digest?.sha256) return void (old.problem = undefined)
      const ready = await this.#prepare({ entry: old.entry })
      await this.#inTurn(() => this.#exchange(old, ready))
      this.#logger.info(`The plugin ${name} was reloaded.`)
    } catch (error) {
      const left = this.#loaded.get(name)
      if (left !== undefined)
        left.problem = `Its changed file could not be loaded, so the version before still runs: ${errorSentence(error)}`
      this.#logger.error(`The plugin ${name} changed and could not be reloaded: ${errorSentence(error)}`)
    }
  }

  async #exchange(old: Loaded, ready: ReadyPlugin): Promise<void> {
    try {
      if (this.#loaded.get(old.plugin.name) !== old) throw new Error("It was unloaded meanwhile.")
      if (ready.plugin.name !== old.plugin.name || ready.plugin.group !== old.plugin.group) {
        throw new Error("It has another name now. Unload it and load it again.")
      }
      await this.#options.onLoading?.(loadingOf(ready))
      const { stopWatching } = old
      this.#unregister(old)
      try {
        this.#addTools(ready).stopWatching = stopWatching
      } catch (error) {
        this.#addTools(old).stopWatching = stopWatching
        throw error
      }
    } catch (error) {
      await stopPlugin(ready, this.#options)
      throw error
    }
    await stopPlugin(old, this.#options)
  }
}

function loadingOf({ plugin, layer, tools, found, entry, digest }: ReadyPlugin): LoadingPlugin {
  const ids = tools.map((tool) => `${layer}:${tool.name}@${tool.version}`)
  return {
    name: plugin.name,
    version: plugin.version,
    path: found?.path,
    given: entry?.path,
    layer,
    tools: ids,
    digest,
  }
}

function stateOf({ plugin, layer, found, entry, ids, digest, loadedAt, problem }: Loaded): PluginState {
  const { name, kind, version, group } = plugin
  const place = { path: found?.path, given: entry?.path, layer }
  return { name, kind, version, ...place, state: "loaded", problem, group, tools: ids, digest, loadedAt }
}
