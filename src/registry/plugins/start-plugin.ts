import type { Language } from "../../core/language.ts"
import type { Logger } from "../../core/logger.ts"
import type { PluginDigest, PluginEntry } from "./plugin.ts"
import type { Layer, Tool } from "../../core/tool.ts"
import type { ModuleOptions } from "../adapters.ts"
import { pluginDigest, findPlugin, type FoundPlugin } from "./find-plugin.ts"
import { importFile, type Import } from "./import-file.ts"
import { rememberPluginPlace, runPluginCode } from "../../lib/plugin-code.ts"
import { readPlugin, type ReadPlugin } from "./read-plugin.ts"
import { makePluginTools } from "./make-tools.ts"
import { syntaxLine } from "./syntax-line.ts"
import { countPluginCalls, withTimeout, type PluginCalls } from "./plugin-calls.ts"

export interface PluginStartOptions {
  logger?: Logger
  /** The language of a module's group description where the module gives none; English when left out. */
  language?: Language
  /** The folder for relative paths and packages. Default: the working folder. */
  base?: string
  /** Passed to `init` besides the plugin's configuration; what a function returns for the plugin's name is added to the usual. */
  runtime?: unknown
  /** For tools of modules that have no `toolOptions` of their own. Left out: they are sensitive. */
  moduleDefaults?: Omit<ModuleOptions, "tools">
  /** Modules that can be loaded by name alone. */
  known?: Readonly<Record<string, () => Promise<unknown>>>
  /** The runtime's `import`, for environments that replace it. */
  import?: Import
  /** Milliseconds for the import and for `init`, each. */
  startMs?: number
  /** Milliseconds for `shutdown`. */
  stopMs?: number
}

/** A plugin that is imported, checked and started, but not registered yet. */
export interface ReadyPlugin {
  readonly plugin: ReadPlugin
  readonly tools: readonly Tool[]
  readonly layer: Layer
  readonly calls: PluginCalls
  /** Its entry in the configuration. Left out for a plugin that was passed as an object. */
  readonly entry?: PluginEntry
  readonly found?: FoundPlugin
  readonly digest?: PluginDigest
}

/** The source of a plugin: an entry of the configuration, or the plugin object itself. */
export type PluginSource =
  | { readonly entry: PluginEntry }
  | { readonly object: object; readonly about: PluginEntryOptions }
export type PluginEntryOptions = Omit<PluginEntry, "path">

const namePattern = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u

/** Imports, checks and starts a plugin without registering anything. `isFree` throws when its name is taken. */
export async function preparePlugin(
  source: PluginSource,
  isFree: (plugin: ReadPlugin) => void,
  options: PluginStartOptions,
): Promise<ReadyPlugin> {
  const { exported, ...place } = await read(source, options)
  const { layer = "system", config = {} }: PluginEntryOptions = "entry" in source ? source.entry : source.about
  const plugin = readPlugin(exported, options.language)
  if (!namePattern.test(plugin.group)) {
    throw new Error(
      `'${plugin.group}' cannot be the name of a group: use only letters, digits, _ - and ., 64 at most. Rename the plugin.`,
    )
  }
  isFree(plugin)
  if (place.found !== undefined) rememberPluginPlace(plugin.name, place.found)
  const running = countPluginCalls()
  await start({ plugin, calls: running }, config, options)
  try {
    return { ...place, plugin, layer, calls: running, tools: makePluginTools(plugin, running, options.moduleDefaults) }
  } catch (error) {
    await stopPlugin({ plugin, calls: running }, options)
    throw error
  }
}

/** Waits for the plugin's running calls and shuts it down, each within its time limit. Failures are only logged. */
export async function stopPlugin(
  { plugin, calls }: Pick<ReadyPlugin, "plugin" | "calls">,
  { stopMs = 5000, logger }: PluginStartOptions,
): Promise<void> {
  try {
    await calls.idle(stopMs)
    const stopping = Promise.resolve().then(() => runPluginCode({ plugin: plugin.name }, () => plugin.shutdown?.()))
    await withTimeout(stopMs, stopping, `shutdown of ${plugin.name} was not done`)
  } catch (error) {
    logger?.warn(`${plugin.name} did not shut down well: ${errorSentence(error)}`)
  }
}

export function errorSentence(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

async function read(source: PluginSource, options: PluginStartOptions) {
  if ("object" in source) return { exported: source.object as unknown }
  const { entry } = source
  const { known = {}, base = process.cwd(), startMs = 10_000 } = options
  if (Object.hasOwn(known, entry.path)) return { entry, exported: await known[entry.path]!() }
  const found = await findPlugin(entry.path, base)
  const digest = await pluginDigest(found)
  const importing = runPluginCode({ plugin: entry.path }, () => importWell(found.file, digest, options.import))
  const exported = await withTimeout(startMs, importing, `${found.path} was not imported`)
  if ((await pluginDigest(found)).sha256 !== digest.sha256) {
    throw new Error(`${found.path} changed while it was being loaded. Load it again.`)
  }
  return { entry, exported, found, digest }
}

async function importWell(file: string, { sha256 }: PluginDigest, load?: Import): Promise<unknown> {
  try {
    return await importFile(file, sha256, load)
  } catch (error) {
    const isTypeScript = (error as { code?: unknown } | null)?.code === "ERR_UNKNOWN_FILE_EXTENSION"
    const help = isTypeScript ? " Node runs JavaScript only: compile the file first." : ""
    const line = await syntaxLine(error, file)
    const where = line === undefined ? "" : ` (${line})`
    throw new Error(`${file} cannot be imported: ${errorSentence(error)}${where}${help}`, { cause: error })
  }
}

async function start(started: Pick<ReadyPlugin, "plugin" | "calls">, config: unknown, options: PluginStartOptions) {
  const { plugin } = started
  if (plugin.init === undefined) return
  const { startMs = 10_000 } = options
  const runtime: unknown = typeof options.runtime === "function" ? options.runtime(plugin.name) : options.runtime
  let isLate = false
  const starting = Promise.resolve().then(() =>
    runPluginCode({ plugin: plugin.name }, () => plugin.init?.(runtime, config)),
  )
  // A plugin that starts after the time limit is shut down again.
  starting.then(
    () => (isLate ? stopPlugin(started, options) : undefined),
    () => {},
  )
  try {
    await withTimeout(startMs, starting, `init of ${plugin.name} was not done`)
  } catch (error) {
    isLate = true
    throw new Error(`${plugin.name} could not start: ${errorSentence(error)}`, { cause: error })
  }
}
