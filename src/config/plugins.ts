import { resolve } from "node:path"
import type { PluginEntry } from "../model/plugin.ts"
import type { Layer } from "../model/tool.ts"
import type { Config } from "./schema.ts"

type Written = NonNullable<Config["plugins"]>[number]

/** The plugins of the configuration in one shape, then its modules, which are written as a list or by name. */
export function pluginEntries({ plugins = [], modules = [] }: Config): PluginEntry[] {
  const listed = Array.isArray(modules)
    ? modules.map(entryOf)
    : Object.entries(modules).map(([path, config]): PluginEntry => ({ path, layer: "system", config }))
  return [...plugins.map(entryOf), ...listed]
}

/** A file is seen from where it is named; the name of a package stays as it is. */
export function withPluginsFrom(folder: string, config: Config): Config {
  const { plugins, modules } = config
  const entry = (written: Written): Written =>
    typeof written === "string" ? seen(folder, written) : { ...written, path: seen(folder, written.path) }
  if (plugins === undefined && modules === undefined) return config
  return {
    ...config,
    ...(plugins === undefined ? {} : { plugins: plugins.map(entry) }),
    ...(modules === undefined ? {} : { modules: modulesFrom(folder, modules, entry) }),
  }
}

function modulesFrom(folder: string, modules: NonNullable<Config["modules"]>, entry: (written: Written) => Written) {
  if (Array.isArray(modules)) return modules.map(entry)
  return Object.fromEntries(Object.entries(modules).map(([path, given]) => [seen(folder, path), given]))
}

function entryOf(written: Written): PluginEntry {
  const { path, layer = "system", config = {} } = typeof written === "string" ? { path: written } : written
  return { path, layer: layer as Layer, config }
}

function seen(folder: string, path: string): string {
  const isFile = path.startsWith("./") || path.startsWith("../") || path.startsWith("/") || /\.[cm]?[jt]s$/.test(path)
  return isFile ? resolve(folder, path) : path
}
