import { resolve } from "node:path"
import type { PluginEntry } from "../registry/plugins/plugin.ts"
import type { Layer } from "../core/tool.ts"
import type { Config } from "./schema.ts"

type Written = NonNullable<Config["plugins"]>[number]

/** The configured plugins and modules in one form. */
export function pluginEntries({ plugins = [], modules = [] }: Config): PluginEntry[] {
  const listed = Array.isArray(modules)
    ? modules.map(entryOf)
    : Object.entries(modules).map(([path, config]): PluginEntry => ({ path, layer: "system", config }))
  return [...plugins.map(entryOf), ...listed]
}

/** Resolves plugin files relative to `folder`; package names stay as they are. */
export function resolvePluginPaths(folder: string, config: Config): Config {
  const { plugins, modules } = config
  const entry = (written: Written): Written =>
    typeof written === "string" ? resolveFile(folder, written) : { ...written, path: resolveFile(folder, written.path) }
  if (plugins === undefined && modules === undefined) return config
  return {
    ...config,
    ...(plugins === undefined ? {} : { plugins: plugins.map(entry) }),
    ...(modules === undefined ? {} : { modules: modulesFrom(folder, modules, entry) }),
  }
}

function modulesFrom(folder: string, modules: NonNullable<Config["modules"]>, entry: (written: Written) => Written) {
  if (Array.isArray(modules)) return modules.map(entry)
  return Object.fromEntries(Object.entries(modules).map(([path, given]) => [resolveFile(folder, path), given]))
}

function entryOf(written: Written): PluginEntry {
  const { path, layer = "system", config = {} } = typeof written === "string" ? { path: written } : written
  return { path, layer: layer as Layer, config }
}

function resolveFile(folder: string, path: string): string {
  const isFile = path.startsWith("./") || path.startsWith("../") || path.startsWith("/") || /\.[cm]?[jt]s$/.test(path)
  return isFile ? resolve(folder, path) : path
}
