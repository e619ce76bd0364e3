import { silentLogger, type Logger } from "../../model/logger.ts"
import type { LoadingPlugin, PluginEntry, PluginState } from "../../model/plugin.ts"
import type { RegisteredTool } from "../../model/tool.ts"
import type { ToolRegistry } from "../registry.ts"
import { digestOf } from "./find.ts"
import type { ReadPlugin } from "./read.ts"
import { prepare, sentenceOf, stop, type About, type Ready, type Source, type StartOptions } from "./start.ts"
import { watchPlugin } from "./watch.ts"

export interface PluginOptions extends StartOptions {
  /** Told before the tools are there; when it fails, the plugin is not loaded. */
  onLoading?: ((plugin: LoadingPlugin) => unknown) | undefined
  /** Loads a plugin again when its file changes; a broken one leaves the old one in place. */
  watch?: boolean | undefined
}

interface Loaded extends Ready {
  readonly ids: readonly string[]
  readonly loadedAt: number
  /** Why its changed file is not what runs. */
  problem?: string | undefined
  stopWatching?: (() => void) | undefined
}

/**
 * Loads S0's modules and S3's plugins. A plugin is code with all our rights, so whoever calls this has been trusted. Its
 * tools are all there or none is; each is in the plugin's own group, which comes and goes with it.
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
    this.#options = { runtime: { toolGroupManager: registry.groups, log: this.#logger }, ...options }
  }

  /** Loads a file, a folder, an installed package or a plugin at hand. Rejects with a sentence when that cannot be. */
  async loadPlugin(given: string | object, about: About = {}): Promise<PluginState> {
    const entry = typeof given === "string" ? { ...about, path: given } : undefined
    const preparing = this.#prepare(entry === undefined ? { object: given as object, about } : { entry })
    // It may fail before its turn comes, and is heard then.
    preparing.catch(() => {})
    const state = await this.#inTurn(async () => this.#enter(await preparing))
    if (entry !== undefined) this.#failed.delete(entry.path)
    return state
  }

  /** Unregisters its tools and its group, waits for calls that are inside, and shuts it down. */
  async unloadPlugin(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const loaded = this.#loaded.get(name)
      if (loaded === undefined) return false
      this.#leave(loaded)
      await stop(loaded, this.#options)
      return true
    })
  }

  /**
   * Loads all of them, each on its own: what is wrong with one is shown in its state and keeps no other from working.
   * They start side by side and are registered in the order they are given.
   */
  async loadAll(entries: readonly PluginEntry[]): Promise<readonly PluginState[]> {
    const loading = entries.map((entry) =>
      this.loadPlugin(entry.path, entry).catch((error: unknown) => this.#fail(entry, error)),
    )
    return Promise.all(loading)
  }

  /** S0: modules as a list of paths or entries, or as paths with what each is given. */
  loadModules(modules: readonly (string | PluginEntry)[] | Readonly<Record<string, unknown>>) {
    const entries = Array.isArray(modules)
      ? modules.map((one: string | PluginEntry) => (typeof one === "string" ? { path: one } : one))
      : Object.entries(modules).map(([path, config]) => ({ path, config: config as Record<string, unknown> }))
    return this.loadAll(entries)
  }

  /** What is loaded and what could not be, in that order. */
  list(): PluginState[] {
    return [...[...this.#loaded.values()].map(stateOf), ...this.#failed.values()]
  }

  get(name: string): PluginState | undefined {
    return this.list().find((state) => state.name === name)
  }

  /** Unloads all of them and shuts them down side by side. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      const all = [...this.#loaded.values()].toReversed()
      for (const loaded of all) this.#leave(loaded)
      await Promise.all(all.map((loaded) => stop(loaded, this.#options)))
    })
  }

  /** One change after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    return mine
  }

  #fail(entry: PluginEntry, error: unknown): PluginState {
    const problem = sentenceOf(error)
    const { path, layer = "system" } = entry
    const state: PluginState = { name: path, given: path, layer, state: "failed", tools: [], problem }
    this.#failed.set(path, state)
    this.#logger.error(`The plugin ${path} was not loaded: ${problem}`)
    return state
  }

  #prepare(source: Source): Promise<Ready> {
    const entry = "entry" in source ? source.entry : undefined
    return prepare(source, (plugin) => this.#refuseTakenGroup(plugin, entry), this.#options)
  }

  #refuseTakenGroup({ name, group }: ReadPlugin, entry: PluginEntry | undefined): void {
    const { groups } = this.#registry
    const own = this.#loaded.get(name)
    if (own !== undefined && entry !== undefined && own.entry === entry && own.plugin.group === group) return
    if (own !== undefined) throw new Error(`There is a plugin '${name}' already. Unload it first, or rename one.`)
    if (groups.isReservedGroup(group)) {
      throw new Error(`'${group}' is the name of a group of our own. Give the plugin another name.`)
    }
    if (groups.hasGroup(group)) throw new Error(`There is a group '${group}' already. Give the plugin another name.`)
  }

  /** Registers what is ready, all of it or nothing; what cannot be registered is shut down again. */
  async #enter(ready: Ready): Promise<PluginState> {
    try {
      this.#refuseTakenGroup(ready.plugin, ready.entry)
      await this.#options.onLoading?.(loadingOf(ready))
      const loaded = this.#place(ready)
      this.#watch(loaded)
      return stateOf(loaded)
    } catch (error) {
      await stop(ready, this.#options)
      throw error
    }
  }

  #place(ready: Ready): Loaded {
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

  #leave(loaded: Loaded): void {
    loaded.stopWatching?.()
    this.#loaded.delete(loaded.plugin.name)
    this.#unregister(loaded)
  }

  /** Only what is still its own: somebody may have replaced a tool. */
  #unregister({ tools, layer, plugin }: Ready): void {
    for (const { name, version, execute } of tools) {
      const isOwn = (one: RegisteredTool) => one.name === name && one.execute === execute
      if (this.#registry.list({ layer, version }).some(isOwn)) this.#registry.unregister(name, { layer, version })
    }
    this.#registry.groups.unregisterGroup(plugin.group)
  }

  #watch(loaded: Loaded): void {
    const { found } = loaded
    if (this.#options.watch !== true || found === undefined) return
    loaded.stopWatching = watchPlugin(found, () => void this.#reload(loaded.plugin.name))
  }

  /** Puts the changed plugin in the place of the old one. What cannot be loaded leaves the old one as it is. */
  async #reload(name: string): Promise<void> {
    const old = this.#loaded.get(name)
    if (old?.entry === undefined || old.found === undefined) return
    try {
      if ((await digestOf(old.found)).sha256 === old.digest?.sha256) return void (old.problem = undefined)
      const ready = await this.#prepare({ entry: old.entry })
      await this.#inTurn(() => this.#exchange(old, ready))
      this.#logger.info(`The plugin ${name} was loaded again.`)
    } catch (error) {
      const left = this.#loaded.get(name)
      if (left !== undefined)
        left.problem = `Its changed file is not loaded, the one before runs on: ${sentenceOf(error)}`
      this.#logger.error(`The plugin ${name} changed and was not loaded again: ${sentenceOf(error)}`)
    }
  }

  async #exchange(old: Loaded, ready: Ready): Promise<void> {
    try {
      if (this.#loaded.get(old.plugin.name) !== old) throw new Error("It was unloaded meanwhile.")
      if (ready.plugin.name !== old.plugin.name || ready.plugin.group !== old.plugin.group) {
        throw new Error("It has another name now. Unload it and load it again.")
      }
      await this.#options.onLoading?.(loadingOf(ready))
      const { stopWatching } = old
      this.#unregister(old)
      try {
        this.#place(ready).stopWatching = stopWatching
      } catch (error) {
        this.#place(old).stopWatching = stopWatching
        throw error
      }
    } catch (error) {
      await stop(ready, this.#options)
      throw error
    }
    await stop(old, this.#options)
  }
}

function loadingOf({ plugin, layer, tools, found, entry, digest }: Ready): LoadingPlugin {
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
