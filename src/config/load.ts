import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { UnsetVariables } from "../core/unset-variables.ts"
import { mergedConfigFlaws } from "./check-configuration.ts"
import {
  configFilesIn,
  findConfig,
  userConfigFile,
  readSource,
  withLocalFile,
  type FoundConfig,
  type ConfigSource,
} from "./find.ts"
import { dataFolderName, findProject } from "./find-project.ts"
import type { Environment } from "./interpolate.ts"
import { mergeConfigs } from "./merge.ts"
import { ConfigError, escapeControls, type ConfigProblem } from "./config-error.ts"
import { placesOfRules, readTrusted, readUntrusted, type IgnoredKey, type TrustedLayer } from "./read-layer.ts"
import { mergePlaces, namedPermissions, type PermissionPlaces } from "./permission-places.ts"
import type { Config } from "./schema.ts"
import { environmentConfig, flagsConfig } from "./settings.ts"
import { isPinned } from "./trust.ts"

export interface LoadOptions {
  cwd: string
  env: Environment
  home: string
  /** The file of `--config`. */
  configPath?: string
  /** Dotted key to value, for example `{ "tools.timeout": "5000" }`. */
  overrides?: Readonly<Record<string, unknown>>
}

type Permissions = NonNullable<NonNullable<Config["tools"]>["permissions"]>

export interface LoadedConfig {
  config: Config
  /** Every file that was read, in the order of the search. */
  files: string[]
  /** Absolute. */
  dataDir: string
  /** The folder the tools work in, absolute: the configured one, otherwise the project, otherwise the working folder. */
  workspace: string
  /** The folder of the configuration and the data: found, or the folder of a given file. Undefined outside any project. */
  project?: string
  warnings: string[]
  /** False if the project's file is not trusted, so that only its stricter settings apply. */
  trusted: boolean
  /** `tools.permissions` by trust: an untrusted file must not replace what the tool's author or the user set. */
  permissions: { trusted: Permissions; untrusted: Permissions }
  /** The source of each of them, by tool and key: `quartermaster.yml:12 tools.permissions.sleep.level`. */
  permissionSources: PermissionPlaces
  /** Variables that are not set, and what cannot be used until they are. */
  unset: UnsetVariables
  /** The settings of untrusted files that do not apply. */
  ignored: IgnoredKey[]
  /** The agents of untrusted files, which do not exist yet. */
  ignoredAgents: { file: string; id: string }[]
  /** The source of each of the rules, in their order: `quartermaster.yml rules[3]`. */
  ruleSources: string[]
  configFile?: string
}

/** Merges files, then environment variables, then options. Throws one ConfigError with every problem of every layer. */
export function loadConfig({ cwd, env, home, configPath, overrides = {} }: LoadOptions): LoadedConfig {
  const problems: ConfigProblem[] = []
  const attempt = <T>(work: () => T, otherwise: T): T => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const problem of error.problems) problems.push(problem)
      return otherwise
    }
  }
  const read = (file: string): ConfigSource[] =>
    withLocalFile(file).flatMap((one) => attempt(() => [readSource(one)], []))

  const folder = findProject(cwd, home)
  const found = findConfig({ cwd, env, home }, folder, configPath)
  const isGiven = found?.place === "given"
  const project = isGiven ? dirname(found.file) : folder
  const sources = found ? read(found.file) : []
  const trusted = found?.place !== "project" || attempt(() => isPinned(sources, home), false)
  // The user's own file is read too and overrides an untrusted file.
  const own = trusted || !existsSync(userConfigFile(home)) ? [] : read(userConfigFile(home))
  const guarded = (trusted ? [] : sources).map((source) =>
    attempt(() => readUntrusted(source), { config: {}, ignored: [], agents: [], rulePlaces: [], permissionPlaces: {} }),
  )
  const ignored = guarded.flatMap((layer) => layer.ignored)
  const untrustedConfig = mergeConfigs(guarded.map((layer) => layer.config))
  const files = (trusted ? sources : own).map((source) => ({
    place: source.file,
    ...attempt(() => readTrusted(source, env), emptyLayer),
  }))
  const environment = attempt(() => environmentConfig(env, cwd), {})
  const flags = attempt(() => flagsConfig(overrides, cwd), {})
  const layers: { place: string; config: Config; permissionPlaces: PermissionPlaces }[] = [
    ...files,
    {
      place: "environment",
      config: environment,
      permissionPlaces: namedPermissions("environment", environment),
    },
    { place: "flags", config: flags, permissionPlaces: namedPermissions("flags", flags) },
  ]
  const unset = mergeUnset(files.map((layer) => layer.unset))
  const trustedConfig = mergeConfigs(layers.map((layer) => layer.config))
  const merged = mergeConfigs([untrustedConfig, trustedConfig])
  // The deny and ask rules of an untrusted file apply in addition to all other rules.
  const rules = [...guarded.flatMap((layer) => layer.config.rules ?? []), ...(trustedConfig.rules ?? [])]
  const whole = withAllDenials(rules.length === 0 ? merged : { ...merged, rules }, untrustedConfig)
  const config = withoutUnusable(withoutServers(whole, Object.keys(unset.servers)), unset)
  if (problems.length === 0) {
    const file = sources[0]?.file ?? "environment"
    for (const flaw of mergedConfigFlaws(config)) problems.push({ file, ...flaw })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    config,
    files: [...sources, ...own].map(({ file }) => file),
    dataDir: config.data?.dir ?? join(project ?? resolve(cwd), dataFolderName),
    workspace: config.workspace ?? resolve(isGiven ? cwd : (folder ?? cwd)),
    ...(project === undefined ? {} : { project }),
    warnings: [...unread(found), ...untrustedWarning(ignored), ...files.flatMap((layer) => layer.warnings)],
    unset,
    trusted,
    ignored,
    ignoredAgents: guarded.flatMap((layer) => layer.agents),
    permissions: {
      trusted: trustedConfig.tools?.permissions ?? {},
      untrusted: untrustedConfig.tools?.permissions ?? {},
    },
    permissionSources: mergePlaces(layers.map(placesOf), guarded.map(placesOf)),
    ruleSources: [...guarded.flatMap((layer) => layer.rulePlaces), ...placesOfLast(layers)],
    ...(found ? { configFile: found.file } : {}),
  }
}

const emptyLayer: TrustedLayer = {
  config: {},
  warnings: [],
  unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
  permissionPlaces: {},
}

function mergeUnset(all: readonly UnsetVariables[]): UnsetVariables {
  const byName = (kind: "servers" | "models" | "databases") => {
    const found = new Map<string, readonly string[]>()
    for (const [name, variables] of all.flatMap((one) => Object.entries(one[kind]))) {
      found.set(name, [...(found.get(name) ?? []), ...variables])
    }
    return Object.fromEntries(found)
  }
  return {
    servers: byName("servers"),
    models: byName("models"),
    databases: byName("databases"),
    webSearch: all.flatMap(({ webSearch }) => webSearch),
  }
}

function withoutServers(config: Config, names: readonly string[]): Config {
  if (names.length === 0) return config
  const { mcpServers, ...rest } = config
  const left = Object.entries(mcpServers ?? {}).filter(([name]) => !names.includes(name))
  return { ...rest, mcpServers: Object.fromEntries(left) as Config["mcpServers"] }
}

/** Leaves out the models and databases that cannot be used. */
function withoutUnusable(config: Config, unset: UnsetVariables): Config {
  const usable = <Entries extends object>(kind: "models" | "databases", entries: Entries): Entries =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !Object.hasOwn(unset[kind], name))) as Entries
  const { models, databases } = config
  return {
    ...config,
    ...(models === undefined ? {} : { models: usable("models", models) }),
    ...(databases === undefined ? {} : { databases: usable("databases", databases) }),
  }
}

/** One line, however much is ignored. */
function untrustedWarning(ignored: readonly IgnoredKey[]): string[] {
  const [first] = ignored
  if (first === undefined) return []
  const shown = ignoredText([...new Set(ignored.map(({ key }) => key))])
  return [
    `${first.file} is not trusted, so this is ignored: ${shown}. 'qm check' shows what the file does; after that, run 'qm trust'.`,
  ]
}

/** Every section by name; the allow rules, and the settings of a section that has many, by their number. */
function ignoredText(keys: readonly string[]): string {
  const sectionOf = (key: string) => /^[^.[]*/.exec(key)![0]
  return [...new Set(keys.map(sectionOf))]
    .map((section) => {
      const all = keys.filter((key) => sectionOf(key) === section)
      if (section === "rules") return all.length === 1 ? "an allow rule" : `${all.length} allow rules`
      return all.length > 3 ? `${all.length} settings of ${section}` : all.join(", ")
    })
    .map(escapeControls)
    .join(", ")
}

/** Lists that an untrusted file denies are added to the other lists instead of being replaced by them. */
function withAllDenials(config: Config, untrusted: Config): Config {
  const { protectedPaths = [], shell = {}, hosts = {} } = untrusted.tools ?? {}
  const both = (some: readonly string[] = [], others: readonly string[] = []) => [...new Set([...some, ...others])]
  const { tools = {} } = config
  const paths = both(tools.protectedPaths, protectedPaths)
  const commands = both(tools.shell?.deny, shell.deny)
  const names = both(tools.hosts?.deny, hosts.deny)
  if (paths.length + commands.length + names.length === 0) return config
  return {
    ...config,
    tools: {
      ...tools,
      ...(paths.length === 0 ? {} : { protectedPaths: paths }),
      ...(commands.length === 0 ? {} : { shell: { ...tools.shell, deny: commands } }),
      ...(names.length === 0 ? {} : { hosts: { ...tools.hosts, deny: names } }),
    },
  }
}

function placesOf({ permissionPlaces }: { permissionPlaces: PermissionPlaces }): PermissionPlaces {
  return permissionPlaces
}

/** The last layer with rules replaces those of earlier layers, like every list. */
function placesOfLast(layers: readonly { place: string; config: Config }[]): string[] {
  const last = layers.findLast(({ config }) => config.rules !== undefined)
  return last === undefined ? [] : placesOfRules(last.place, last.config)
}

function unread(found: FoundConfig | undefined): string[] {
  if (found?.place !== "project") return []
  const others = configFilesIn(dirname(found.file)).filter((file) => file !== found.file)
  return others.map((file) => `${file} is not read because ${found.file} is. Delete one of them.`)
}
