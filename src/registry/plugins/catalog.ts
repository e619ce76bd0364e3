import type { LoadingPlugin, PluginCatalog, PluginEntry, PluginState } from "./plugin.ts"
import type { Documents, StoredDocument } from "../../core/documents.ts"
import type { Layer } from "../../core/tool.ts"
import type { ToolRegistry } from "../registry.ts"
import { PluginManager, type PluginOptions } from "./manager.ts"

export interface RunningPlugins extends PluginCatalog {
  readonly manager: PluginManager
  /** Loads the configured plugins. Never rejects: a failure is shown in the plugin's state. */
  start(): Promise<void>
  close(): Promise<void>
}

/** The stored document of a plugin: what was last loaded, and who switched it off since. */
interface StoredPlugin {
  readonly name: string
  readonly given?: string
  readonly layer: Layer
  readonly sha256?: string
  readonly off?: { readonly by: string; readonly at: number }
}

/**
 * The configured plugins. What was loaded is stored first, so that the audit log has a note whenever a plugin has changed; if
 * that fails, the plugin is not loaded. A plugin that a person switches off is unloaded in every process.
 */
export function pluginCatalog(
  entries: readonly PluginEntry[],
  { registry, documents, ...options }: PluginOptions & { registry: ToolRegistry; documents: Documents },
): RunningPlugins {
  const manager = new PluginManager(registry, { ...options, onLoading: (plugin) => remember(plugin, documents) })
  const offBy = ({ path }: PluginEntry) => offIn(documents).find(({ given }) => given === path)
  let isStarted = false
  let settling: Promise<unknown> = Promise.resolve()
  /** Loads plugins that were switched on and unloads those that were switched off, by this process or another. */
  const settle = () =>
    (settling = settling.then(async () => {
      const listed = manager.list()
      const off = entries.filter(offBy).map(({ path }) => path)
      for (const { name, given, state } of listed) {
        if (state === "loaded" && given !== undefined && off.includes(given)) await manager.unloadPlugin(name)
      }
      const missing = entries.filter(({ path }) => !off.includes(path) && !listed.some(({ given }) => given === path))
      await manager.loadAll(missing)
    }))
  documents.onChange((changed) => {
    if (isStarted && changed.some(({ kind }) => kind === "plugin")) void settle()
  })
  const list = (): PluginState[] => [
    ...manager.list().filter(({ state, given }) => state === "loaded" || !entries.some((one) => one.path === given && offBy(one))),
    ...entries.flatMap((entry) => {
      const kept = offBy(entry)
      return kept === undefined ? [] : [offState(kept)]
    }),
  ] // prettier-ignore
  return {
    manager,
    list,
    load: (entry) => manager.loadPlugin(entry.path, entry),
    async switchOff(name, by) {
      const found = documents.get("plugin", name)
      const isLoaded = manager.list().some((one) => one.name === name && one.state === "loaded")
      if (found === undefined || !isLoaded) return undefined
      if (!entries.some(({ path }) => path === (found.body as StoredPlugin).given)) {
        throw new Error(
          `The plugin '${name}' is not in the configuration. It is unloaded when the process that loaded it ends.`,
        )
      }
      await store(documents, found, { ...(found.body as StoredPlugin), off: { by, at: Date.now() } }, by)
      await settle()
      return list().find((one) => one.name === name)
    },
    async switchOn(name, by) {
      const found = documents.get("plugin", name)
      const { off, ...body } = (found?.body ?? {}) as StoredPlugin
      if (found === undefined || off === undefined) return undefined
      await store(documents, found, body, by)
      await settle()
      return list().find((one) => one.name === name || one.given === body.given)
    },
    async start() {
      await manager.loadAll(entries.filter((entry) => offBy(entry) === undefined))
      isStarted = true
    },
    async close() {
      isStarted = false
      await settling
      await manager.close()
    },
  }
}

async function remember(plugin: LoadingPlugin, documents: Documents): Promise<void> {
  const { name, version, path, given, layer, tools, digest } = plugin
  const facts = { name, version, path, given, layer, tools, sha256: digest?.sha256, covers: digest?.covers }
  const body = JSON.parse(JSON.stringify(facts)) as StoredPlugin
  const known = documents.get("plugin", name)
  if (known?.live === true && JSON.stringify(known.body) === JSON.stringify(body)) return
  await documents.put({ kind: "plugin", id: name, body }, "configuration")
}

async function store(documents: Documents, before: StoredDocument, body: StoredPlugin, by: string): Promise<void> {
  const put = await documents.put({ kind: "plugin", id: before.id, body }, by, before.change)
  if (!put.written) throw new Error(`The plugin '${before.id}' was changed by someone else meanwhile. Try again.`)
}

function offIn(documents: Documents): StoredPlugin[] {
  return [...documents.all("plugin")].map(({ body }) => body as StoredPlugin).filter(({ off }) => off !== undefined)
}

function offState({ name, given, layer, off }: StoredPlugin): PluginState {
  const problem = `${off!.by} switched it off at ${new Date(off!.at).toISOString()}.`
  return { name, given, layer, state: "off", tools: [], problem }
}
