import type { LoadingPlugin, PluginBook, PluginEntry, PluginState } from "../../model/plugin.ts"
import type { Documents, StoredDocument } from "../../model/documents.ts"
import type { Layer } from "../../model/tool.ts"
import type { ToolRegistry } from "../registry.ts"
import { PluginManager, type PluginOptions } from "./manager.ts"

export interface RunningPlugins extends PluginBook {
  readonly manager: PluginManager
  /** Loads what the configuration names. Never rejects: what is wrong with one is shown in its state. */
  start(): Promise<void>
  close(): Promise<void>
}

/** What is kept of a plugin: what it was when it was last loaded, and who has switched it off since. */
interface KeptPlugin {
  readonly name: string
  readonly given?: string | undefined
  readonly layer: Layer
  readonly sha256?: string | undefined
  readonly off?: { readonly by: string; readonly at: number } | undefined
}

/**
 * The plugins of the configuration. What was loaded is kept, so that the record has a note whenever a plugin is another
 * than before; one that cannot be written down is not loaded. What a person switches off leaves every process.
 */
export function plugins(
  entries: readonly PluginEntry[],
  { registry, documents, ...options }: PluginOptions & { registry: ToolRegistry; documents: Documents },
): RunningPlugins {
  const manager = new PluginManager(registry, { ...options, onLoading: (plugin) => remember(plugin, documents) })
  const offBy = ({ path }: PluginEntry) => offIn(documents).find(({ given }) => given === path)
  let isStarted = false
  let settling: Promise<unknown> = Promise.resolve()
  /** Loads what was switched on and unloads what was switched off, here and elsewhere. */
  const settle = () =>
    (settling = settling.then(async () => {
      const there = manager.list()
      const off = entries.filter(offBy).map(({ path }) => path)
      for (const { name, given, state } of there) {
        if (state === "loaded" && given !== undefined && off.includes(given)) await manager.unloadPlugin(name)
      }
      const missing = entries.filter(({ path }) => !off.includes(path) && !there.some(({ given }) => given === path))
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
      const isThere = manager.list().some((one) => one.name === name && one.state === "loaded")
      if (found === undefined || !isThere) return undefined
      if (!entries.some(({ path }) => path === (found.body as KeptPlugin).given)) {
        throw new Error(`The plugin '${name}' is not from the configuration, and ends with the process that loaded it.`)
      }
      await keep(documents, found, { ...(found.body as KeptPlugin), off: { by, at: Date.now() } }, by)
      await settle()
      return list().find((one) => one.name === name)
    },
    async switchOn(name, by) {
      const found = documents.get("plugin", name)
      const { off, ...body } = (found?.body ?? {}) as KeptPlugin
      if (found === undefined || off === undefined) return undefined
      await keep(documents, found, body, by)
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
  const body = JSON.parse(JSON.stringify(facts)) as KeptPlugin
  const known = documents.get("plugin", name)
  if (known?.live === true && JSON.stringify(known.body) === JSON.stringify(body)) return
  await documents.put({ kind: "plugin", id: name, body }, "configuration")
}

async function keep(documents: Documents, before: StoredDocument, body: KeptPlugin, by: string): Promise<void> {
  const put = await documents.put({ kind: "plugin", id: before.id, body }, by, before.change)
  if (!put.kept) throw new Error(`The plugin '${before.id}' has just been changed by somebody else. Look again.`)
}

function offIn(documents: Documents): KeptPlugin[] {
  return [...documents.all("plugin")].map(({ body }) => body as KeptPlugin).filter(({ off }) => off !== undefined)
}

function offState({ name, given, layer, off }: KeptPlugin): PluginState {
  const problem = `${off!.by} switched it off at ${new Date(off!.at).toISOString()}.`
  return { name, given, layer, state: "off", tools: [], problem }
}
