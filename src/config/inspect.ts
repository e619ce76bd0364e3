import { dirname, join, resolve } from "node:path"
import { valueAtPath } from "../schema/problems.ts"
import { expandShortForms, mergedConfigFlaws } from "./check-configuration.ts"
import { ConfigError, type ConfigProblem } from "./config-error.ts"
import { dataFolderName, findProject } from "./find-project.ts"
import { configFilesIn, readSource, userConfigFile, withLocalFile, type ConfigSource } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import type { LoadedConfig } from "./load.ts"
import { mergeConfigs } from "./merge.ts"
import { mergePlaces } from "./permission-places.ts"
import type { Config } from "./schema.ts"
import { withoutUnset } from "./unset-variables.ts"
import { readSound } from "./read-layer.ts"
import type { Path } from "./schema-path.ts"
import { isPinned } from "./trust.ts"
import { startLines } from "./trust-lines.ts"
import { readYaml } from "../schema/yaml.ts"

/** The contents of a configuration file, found without trusting, starting or loading anything. */
export interface InspectedConfig {
  file: string
  trusted: boolean
  problems: ConfigProblem[]
  warnings: string[]
  /** The programs, addresses and files that it would start, connect to or load, as they are written. */
  starts: string[]
  /** The names of its MCP servers, which are groups too. */
  servers: string[]
  /** Finds the place at which the value at a path is written. */
  placeOf(path: Path): Pick<ConfigProblem, "file" | "line" | "column">
  /** The file as if it were trusted, without its mistakes and what it would start. Undefined when it cannot be read. */
  harmless: LoadedConfig | undefined
  /** True if mistakes hide parts that have names: then an unknown name may be one of theirs. */
  missesNames: boolean
}

/** Reads a file, or the project's when none is given, with its local file. */
export function inspectConfig(
  given: string | undefined,
  { cwd, home, env }: { cwd: string; home: string; env: Environment },
): InspectedConfig {
  const file = given === undefined ? configFilesIn(findProject(cwd, home) ?? cwd)[0] : resolve(cwd, given)
  if (file === undefined) {
    const sentence = "There is no configuration file in this folder or above it. Give its path, or run 'qm init'."
    throw new ConfigError([{ file: cwd, key: "", sentence }])
  }
  const sources = withLocalFile(file).map(readSource)
  const texts = sources.map((source) => ({ file: source.file, yaml: readYaml(source.bytes.toString("utf8")) }))
  const values = texts.map(({ yaml }) => expandShortForms(yaml.value))
  const { layers, problems, isReadable } = readLayers(sources, env)
  const merged = mergeConfigs(layers.map((layer) => layer.config))
  const wrong = (isReadable ? mergedConfigFlaws(merged) : []).map((flaw) => ({ ...flaw, path: flaw.key.split(".") }))
  for (const { path, ...flaw } of wrong) problems.push({ ...placeOf(path), ...flaw })
  const config = withoutUnset(merged, wrong) as Config
  const missesNames = layers.some((layer) => layer.missesNames)
  const trusted = file === userConfigFile(home) || isPinned(sources, home)
  return {
    file,
    trusted,
    problems,
    warnings: layers.flatMap((layer) => layer.warnings),
    starts: values.flatMap(startLines),
    servers: [...Object.keys(config.mcpServers ?? {}), ...layers.flatMap(({ unset }) => Object.keys(unset.servers))],
    missesNames,
    placeOf,
    harmless: isReadable ? harmless() : undefined,
  }

  function placeOf(path: Path) {
    const at = values.findLastIndex((value) => valueAtPath(value, path) !== undefined)
    const { file: written, yaml } = texts[at] ?? texts[0]!
    return { file: written, ...yaml.placeOf(path) }
  }

  function harmless(): LoadedConfig {
    const {
      mcpServers: _servers,
      plugins: _plugins,
      modules: _modules,
      databases: _databases,
      notify: _notify,
      telemetry: _spans,
      org,
      ...others
    } = config
    // Half an organisation may not hold together.
    const rest = missesNames ? others : { ...others, ...(org && { org }) }
    const withRules = layers.findLastIndex((layer) => layer.config.rules !== undefined)
    return {
      config: trusted ? rest : { ...rest, data: {} },
      files: sources.map((source) => source.file),
      dataDir: (trusted ? config.data?.dir : undefined) ?? join(dirname(file!), dataFolderName),
      workspace: dirname(file!),
      project: dirname(file!),
      warnings: [],
      trusted: true,
      ignored: [],
      ignoredAgents: [],
      permissions: { trusted: config.tools?.permissions ?? {}, untrusted: {} },
      permissionSources: mergePlaces(
        layers.map((layer) => layer.permissionPlaces),
        [],
      ),
      ruleSources: layers[withRules]?.rulePlaces ?? [],
      unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
    }
  }
}

/** Reads what can be read, and all problems. */
function readLayers(sources: readonly ConfigSource[], env: Environment) {
  const problems: ConfigProblem[] = []
  const layers = sources.flatMap((source) => {
    try {
      const layer = readSound(source, env)
      problems.push(...layer.problems)
      return [layer]
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
      return []
    }
  })
  return { layers, problems, isReadable: layers.length === sources.length }
}
