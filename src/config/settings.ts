import { nearestName } from "../lib/nearest-name.ts"
import { pathText } from "../schema/problems.ts"
import { resolve } from "node:path"
import { checkConfig, expandShortForms } from "./check-configuration.ts"
import type { Environment } from "./interpolate.ts"
import { resolveDatabaseFiles } from "./databases-schema.ts"
import { withServersByName } from "./mcp-servers.ts"
import { mergeConfigs } from "./merge.ts"
import { resolveScripts } from "./models-schema.ts"
import { resolvePluginPaths } from "./plugins.ts"
import { ConfigError, type ConfigProblem } from "./config-error.ts"
import { allKeys, hasFreeKeys, keysAt, wantsText } from "./schema-path.ts"
import type { Config } from "./schema.ts"
import { readYaml } from "../schema/yaml.ts"

interface Setting {
  /** The variable or option that sets it. */
  source: string
  path: readonly string[]
  value: unknown
}

/** The layer of environment variables such as `QM_TOOLS__TIMEOUT`. Empty variables count as not set. */
export function environmentConfig(env: Environment, cwd: string): Config {
  const problems: ConfigProblem[] = []
  const settings: Setting[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!value || isReserved(name)) continue
    const path = name === "QUARTERMASTER_DATA" ? ["data", "dir"] : name.startsWith("QM_") ? pathOf(name) : null
    if (path === undefined) problems.push({ file: name, key: "", sentence: unknownVariable(name) })
    if (path) settings.push({ source: name, path, value })
  }
  return configOf(settings, cwd, problems)
}

/** The layer of `--set`: dotted keys with a text from the command line, or with a value. */
export function flagsConfig(overrides: Readonly<Record<string, unknown>>, cwd: string): Config {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  const settings = given.map(([key, value]) => ({ source: `flag ${key}`, path: key.split("."), value }))
  return configOf(settings, cwd, [])
}

const reserved = ["QM_CONFIG", "QM_INSIDE", "QM_PERSON_TOKEN"]

/** Variables that are not settings. QM_NOTIFY_* are set for notify commands, which may run `qm`. */
function isReserved(name: string): boolean {
  return reserved.includes(name) || /^QM_NOTIFY_(?!_)/.test(name)
}

function configOf(settings: readonly Setting[], cwd: string, problems: ConfigProblem[]): Config {
  const sources = new Map<string, string>()
  const layers = settings
    .toSorted((a, b) => a.path.length - b.path.length)
    .map((setting) => {
      const key = pathText(setting.path)
      const earlier = sources.get(key)
      const sentences = earlier === undefined ? [] : [`It sets '${key}', and so does ${earlier}. Keep one of them.`]
      sources.set(key, setting.source)
      const { value, problems: unreadable } = valueOf(setting)
      const nested = setting.path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)
      const { config, flaws } = checkConfig(expandShortForms(nested))
      sentences.push(...(unreadable.length > 0 ? unreadable : flaws.map(({ sentence }) => sentence)))
      problems.push(...sentences.map((sentence) => ({ file: setting.source, key, sentence })))
      return resolvePathsFrom(cwd, config)
    })
  if (problems.length > 0) throw new ConfigError(problems)
  return mergeConfigs(layers)
}

/** Resolves the paths of a layer relative to `folder`, so that layers from different places can be merged. */
export function resolvePathsFrom(folder: string, layer: Config): Config {
  const plugged = resolvePluginPaths(folder, withWorkspace(folder, withServersByName(layer, folder)))
  const { models, databases } = plugged
  const config = {
    ...plugged,
    ...(models === undefined ? {} : { models: resolveScripts(folder, models) }),
    ...(databases === undefined ? {} : { databases: resolveDatabaseFiles(folder, databases) }),
  }
  const dir = config.data?.dir
  return dir === undefined ? config : { ...config, data: { ...config.data, dir: resolve(folder, dir) } }
}

/** Moves `tools.workspaceDir` to `workspace` and resolves it. */
function withWorkspace(folder: string, config: Config): Config {
  const { workspaceDir, ...tools } = config.tools ?? {}
  const workspace = config.workspace ?? workspaceDir
  if (workspace === undefined) return config
  return { ...config, ...(config.tools === undefined ? {} : { tools }), workspace: resolve(folder, workspace) }
}

function valueOf({ path, value }: Setting): { value: unknown; problems: string[] } {
  if (typeof value !== "string" || wantsText(path)) return { value, problems: [] }
  const read = readYaml(value)
  return { value: read.value, problems: read.problems.map(({ sentence }) => sentence) }
}

function pathOf(name: string): string[] | undefined {
  const path: string[] = []
  for (const part of name.slice("QM_".length).split("__")) {
    const key = keyNamed(part, path)
    if (key === undefined) return undefined
    path.push(key)
  }
  return path
}

/** A tool name in capitals becomes lower case; one with lower-case letters stays as it is. */
function keyNamed(part: string, path: readonly string[]): string | undefined {
  if (hasFreeKeys(path)) return part.toUpperCase() === part ? part.toLowerCase() : part
  return keysAt(path).find((known) => same(known, part))
}

function same(a: string, b: string): boolean {
  return a.replaceAll("_", "").toLowerCase() === b.replaceAll("_", "").toLowerCase()
}

function unknownVariable(name: string): string {
  const known = allKeys().map((path) => `QM_${path.map(constantCase).join("__")}`)
  const guess = nearestName(name, [...known, ...reserved])
  const help = guess ? `Did you mean ${guess}?` : "Unset it; two underscores separate the levels of a key."
  return `${name} is not a setting of Quartermaster. ${help}`
}

function constantCase(key: string): string {
  return key.replace(/[A-Z]/g, "_$&").toUpperCase()
}
