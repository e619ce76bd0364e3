import { silentLogger, type Logger } from "../../model/logger.ts"
import type { LoadingPlugin, PluginDigest, PluginEntry, PluginState } from "../../model/plugin.ts"
import type { Layer, RegisteredTool, Tool } from "../../model/tool.ts"
import type { ToolRegistry } from "../registry.ts"
import { digestOf, findPlugin, type FoundPlugin } from "./find.ts"
import { importFile, type Import } from "./import-file.ts"
import { readPlugin, type ReadPlugin } from "./read.ts"
import { toolsOf } from "./tools.ts"
import { visitors, within, type Visiting } from "./visitors.ts"
import { watchPlugin } from "./watch.ts"

export interface PluginOptions {
  logger?: Logger | undefined
  /** Where relative paths and packages are looked for; the working folder when left out. */
  base?: string | undefined
  /** What `init` is given besides its configuration. */
  runtime?: unknown
  /** Modules that are known by a name alone. */
  known?: Readonly<Record<string, () => Promise<unknown>>> | undefined
  /** Told before the tools are there; when it fails, the plugin is not loaded. */
  onLoading?: ((plugin: LoadingPlugin) => unknown) | undefined
  /** The runtime's own import, where something has put another in its place. */
  import?: Import | undefined
  /** Loads a plugin again when its file changes; a broken one leaves the old one in place. */
  watch?: boolean | undefined
  /** Milliseconds for the import and `init` together, and for `shutdown`. */
  startMs?: number | undefined
  stopMs?: number | undefined
}

/** A plugin that is ready to be registered: imported, checked and started. */
interface Ready {
  readonly plugin: ReadPlugin
  readonly tools: readonly Tool[]
  readonly layer: Layer
  readonly visiting: Visiting
  readonly entry: PluginEntry | undefined
  readonly found?: FoundPlugin | undefined
  readonly digest?: PluginDigest | undefined
}

interface Loaded extends Ready {
  readonly ids: readonly string[]
  readonly loadedAt: number
  /** Why its changed file is not what runs. */
  problem?: string | undefined
  stopWatching?: (() => void) | undefined
}

const namePattern = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u

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
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  /** Loads a file, a folder, an installed package or a plugin at hand. Rejects with a sentence when that cannot be. */
  async loadPlugin(given: string | object, about: Omit<PluginEntry, "path"> = {}): Promise<PluginState> {
    const entry = typeof given === "string" ? { ...about, path: given } : undefined
    const preparing = this.#prepare(typeof given === "string" ? undefined : given, entry, about)
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
      await this.#stop(loaded)
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
      const all = [...this.#loaded.values()].reverse()
      for (const loaded of all) this.#leave(loaded)
      await Promise.all(all.map((loaded) => this.#stop(loaded)))
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

  /** Imports, checks and starts one, without registering anything. */
  async #prepare(
    given: object | undefined,
    entry: PluginEntry | undefined,
    { layer = "system", config = {} }: Omit<PluginEntry, "path">,
  ): Promise<Ready> {
    const { startMs = 10_000 } = this.#options
    const { exported, ...source } = await this.#import(given, entry, startMs)
    const plugin = readPlugin(exported)
    if (!namePattern.test(plugin.group)) {
      throw new Error(
        `The name '${plugin.group}' cannot be that of a group: it has letters, digits, _ - and . only, 64 at most. Rename the plugin.`,
      )
    }
    this.#refuseTakenGroup(plugin, entry)
    const visiting = visitors()
    const ready = { ...source, plugin, layer, visiting, entry, tools: [] as readonly Tool[] }
    await this.#start(ready, config, startMs)
    try {
      return { ...ready, tools: toolsOf(plugin, visiting) }
    } catch (error) {
      await this.#stop(ready)
      throw error
    }
  }

  async #import(given: object | undefined, entry: PluginEntry | undefined, startMs: number) {
    if (entry === undefined) return { exported: given as unknown }
    const known = this.#options.known ?? {}
    if (Object.hasOwn(known, entry.path)) return { exported: await known[entry.path]!() }
    const found = await findPlugin(entry.path, this.#options.base ?? process.cwd())
    const digest = await digestOf(found)
    const exported = await within(
      startMs,
      importing(found.file, digest, this.#options.import),
      `${found.path} was not imported`,
    )
    if ((await digestOf(found)).sha256 !== digest.sha256) {
      throw new Error(`${found.path} changed while it was being loaded. Load it again.`)
    }
    return { exported, found, digest }
  }

  async #start({ plugin, visiting }: Ready, config: unknown, startMs: number): Promise<void> {
    if (plugin.init === undefined) return
    const runtime = this.#options.runtime ?? { toolGroupManager: this.#registry.groups, log: this.#logger }
    let isLate = false
    const starting = Promise.resolve().then(() => plugin.init?.(runtime, config))
    // What starts after all, once nobody waits for it, is shut down again.
    starting.then(
      () => (isLate ? this.#stop({ plugin, visiting }) : undefined),
      () => {},
    )
    try {
      await within(startMs, starting, `init of ${plugin.name} was not done`)
    } catch (error) {
      isLate = true
      throw new Error(`${plugin.name} could not start: ${sentenceOf(error)}`, { cause: error })
    }
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
      await this.#stop(ready)
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

  /** Waits for the calls inside and shuts it down, both within one limit; what goes wrong there is only logged. */
  async #stop({ plugin, visiting }: Pick<Ready, "plugin" | "visiting">): Promise<void> {
    const { stopMs = 5000 } = this.#options
    try {
      await visiting.idle(stopMs)
      await within(
        stopMs,
        Promise.resolve().then(() => plugin.shutdown?.()),
        `shutdown of ${plugin.name} was not done`,
      )
    } catch (error) {
      this.#logger.warn(`${plugin.name} did not shut down well: ${sentenceOf(error)}`)
    }
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
      const ready = await this.#prepare(undefined, old.entry, old.entry)
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
      await this.#stop(ready)
      throw error
    }
    await this.#stop(old)
  }
}

async function importing(file: string, { sha256 }: PluginDigest, load?: Import): Promise<unknown> {
  try {
    return await importFile(file, sha256, load)
  } catch (error) {
    const isTypeScript = (error as { code?: unknown }).code === "ERR_UNKNOWN_FILE_EXTENSION"
    const help = isTypeScript ? " This runtime reads JavaScript only: compile it first." : ""
    throw new Error(`${file} cannot be imported: ${sentenceOf(error)}${help}`, { cause: error })
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

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
