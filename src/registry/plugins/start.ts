import type { Logger } from "../../model/logger.ts"
import type { PluginDigest, PluginEntry } from "../../model/plugin.ts"
import type { Layer, Tool } from "../../model/tool.ts"
import { digestOf, findPlugin, type FoundPlugin } from "./find.ts"
import { importFile, type Import } from "./import-file.ts"
import { readPlugin, type ReadPlugin } from "./read.ts"
import { toolsOf } from "./tools.ts"
import { visitors, within, type Visiting } from "./visitors.ts"

export interface StartOptions {
  logger?: Logger | undefined
  /** Where relative paths and packages are looked for; the working folder when left out. */
  base?: string | undefined
  /** What `init` is given besides its configuration. */
  runtime?: unknown
  /** Modules that are known by a name alone. */
  known?: Readonly<Record<string, () => Promise<unknown>>> | undefined
  /** The runtime's own import, where something has put another in its place. */
  import?: Import | undefined
  /** Milliseconds for the import and for `init`, each, and for `shutdown`. */
  startMs?: number | undefined
  stopMs?: number | undefined
}

/** A plugin that is ready to be registered: imported, checked and started. */
export interface Ready {
  readonly plugin: ReadPlugin
  readonly tools: readonly Tool[]
  readonly layer: Layer
  readonly visiting: Visiting
  /** What the configuration says of it; left out for an object that was handed over. */
  readonly entry?: PluginEntry | undefined
  readonly found?: FoundPlugin | undefined
  readonly digest?: PluginDigest | undefined
}

/** Where a plugin comes from: an entry that names it, or the object itself. */
export type Source = { readonly entry: PluginEntry } | { readonly object: object; readonly about: About }
export type About = Omit<PluginEntry, "path">

const namePattern = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u

/** Imports, checks and starts one, without registering anything. `isFree` throws when its name is taken. */
export async function prepare(
  source: Source,
  isFree: (plugin: ReadPlugin) => void,
  options: StartOptions,
): Promise<Ready> {
  const { exported, ...place } = await read(source, options)
  const { layer = "system", config = {} }: About = "entry" in source ? source.entry : source.about
  const plugin = readPlugin(exported)
  if (!namePattern.test(plugin.group)) {
    throw new Error(
      `The name '${plugin.group}' cannot be that of a group: it has letters, digits, _ - and . only, 64 at most. Rename the plugin.`,
    )
  }
  isFree(plugin)
  const visiting = visitors()
  await start({ plugin, visiting }, config, options)
  try {
    return { ...place, plugin, layer, visiting, tools: toolsOf(plugin, visiting) }
  } catch (error) {
    await stop({ plugin, visiting }, options)
    throw error
  }
}

/** Waits for the calls inside and shuts it down, each within its limit; what goes wrong there is only logged. */
export async function stop(
  { plugin, visiting }: Pick<Ready, "plugin" | "visiting">,
  { stopMs = 5000, logger }: StartOptions,
): Promise<void> {
  try {
    await visiting.idle(stopMs)
    const stopping = Promise.resolve().then(() => plugin.shutdown?.())
    await within(stopMs, stopping, `shutdown of ${plugin.name} was not done`)
  } catch (error) {
    logger?.warn(`${plugin.name} did not shut down well: ${sentenceOf(error)}`)
  }
}

export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

async function read(source: Source, options: StartOptions) {
  if ("object" in source) return { exported: source.object as unknown }
  const { entry } = source
  const { known = {}, base = process.cwd(), startMs = 10_000 } = options
  if (Object.hasOwn(known, entry.path)) return { entry, exported: await known[entry.path]!() }
  const found = await findPlugin(entry.path, base)
  const digest = await digestOf(found)
  const importing = importWell(found.file, digest, options.import)
  const exported = await within(startMs, importing, `${found.path} was not imported`)
  if ((await digestOf(found)).sha256 !== digest.sha256) {
    throw new Error(`${found.path} changed while it was being loaded. Load it again.`)
  }
  return { entry, exported, found, digest }
}

async function importWell(file: string, { sha256 }: PluginDigest, load?: Import): Promise<unknown> {
  try {
    return await importFile(file, sha256, load)
  } catch (error) {
    const isTypeScript = (error as { code?: unknown } | null)?.code === "ERR_UNKNOWN_FILE_EXTENSION"
    const help = isTypeScript ? " This runtime reads JavaScript only: compile it first." : ""
    throw new Error(`${file} cannot be imported: ${sentenceOf(error)}${help}`, { cause: error })
  }
}

async function start(started: Pick<Ready, "plugin" | "visiting">, config: unknown, options: StartOptions) {
  const { plugin } = started
  if (plugin.init === undefined) return
  const { runtime, startMs = 10_000 } = options
  let isLate = false
  const starting = Promise.resolve().then(() => plugin.init?.(runtime, config))
  // What starts after all, once nobody waits for it, is shut down again.
  starting.then(
    () => (isLate ? stop(started, options) : undefined),
    () => {},
  )
  try {
    await within(startMs, starting, `init of ${plugin.name} was not done`)
  } catch (error) {
    isLate = true
    throw new Error(`${plugin.name} could not start: ${sentenceOf(error)}`, { cause: error })
  }
}
