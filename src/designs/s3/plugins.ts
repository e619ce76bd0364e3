import { fileURLToPath } from "node:url"
import type { BaseTool } from "../../registry/base-tool.ts"
import { preparePlugin, stopPlugin } from "../../registry/plugins/start-plugin.ts"
import { ToolManager } from "./manager.ts"
import type { ToolPlugin } from "./types.ts"

/** The manager that S3's examples use: all nine tools, in the folder the process was started in. */
export const toolManager: ToolManager = new ToolManager()

/** Loads files that add tools. A plugin runs with all rights of this process, so load only trusted code. */
export class PluginManager {
  readonly #manager: ToolManager
  readonly #plugins = new Map<string, ToolPlugin>()

  /** Left out: `toolManager`. */
  constructor(manager: ToolManager = toolManager) {
    this.#manager = manager
  }

  /** Registers all tools of the plugin or none. Rejects with "Invalid plugin format" and what is wrong. */
  async loadPlugin(pluginPath: string): Promise<void> {
    const path = pluginPath.startsWith("file:") ? fileURLToPath(pluginPath) : pluginPath
    const ready = await preparePlugin({ entry: { path } }, ({ name }) => this.#refuseTaken(name), {})
    const { name, version = "1.0.0" } = ready.plugin
    const tools = ready.plugin.tools as BaseTool[]
    const registered: string[] = []
    try {
      for (const tool of tools) {
        this.#manager.register(tool)
        registered.push(tool.name)
      }
    } catch (error) {
      for (const each of registered) this.#manager.unregister(each)
      await stopPlugin(ready, {})
      throw error
    }
    this.#plugins.set(name, { name, version, tools })
  }

  /** The loaded plugins by name. */
  get plugins(): ReadonlyMap<string, ToolPlugin> {
    return this.#plugins
  }

  #refuseTaken(name: string): void {
    if (this.#plugins.has(name)) throw new Error(`There is a plugin '${name}' already. Rename one.`)
  }
}
