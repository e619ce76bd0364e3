import { isObject } from "../lib/is-object.ts"
import { basename, dirname } from "node:path"
import type { UnsetVariables } from "../core/unset-variables.ts"
import { pathText } from "../schema/problems.ts"
import { checkConfig, expandShortForms, type Flaw } from "./check-configuration.ts"
import type { ConfigSource } from "./find.ts"
import { interpolate, type Environment } from "./interpolate.ts"
import { ConfigError, escapeControls, type ConfigProblem } from "./config-error.ts"
import { placesOfPermissions, type PermissionPlaces } from "./permission-places.ts"
import type { Config } from "./schema.ts"
import { resolvePathsFrom } from "./settings.ts"
import type { Path } from "./schema-path.ts"
import { onlyTightening, withoutVariables } from "./tighten.ts"
import { consequence, unusableParts, withoutUnset } from "./unset-variables.ts"
import { readYaml, type ReadYaml } from "../schema/yaml.ts"

/** The contents of a trusted file. */
export interface TrustedLayer {
  config: Config
  /** Variables that are not set where that is no problem yet. */
  warnings: string[]
  unset: UnsetVariables
  permissionPlaces: PermissionPlaces
}

/** Reads a trusted file as a layer, with variables replaced. Throws all its problems at once. */
export function readTrusted({ file, bytes }: ConfigSource, env: Environment): TrustedLayer {
  const { yaml, value } = open(file, bytes)
  const { filled, flaws } = fill(value, env)
  throwIfAny(file, yaml, flaws)
  return layerOf(file, yaml, filled, checkConfig(withoutUnset(filled.value, filled.unset)).config)
}

/** The contents of a file apart from its mistakes, so that the rest can be checked too. */
export interface SoundLayer extends TrustedLayer {
  problems: ConfigProblem[]
  /** The places of the rules that are left among all rules of the file. */
  rulePlaces: string[]
  /** True if parts were left out that have names for other parts to use. */
  missesNames: boolean
}

/** Reads a trusted file as a layer, without what is wrong in it. Throws what keeps all of it from being read. */
export function readSound({ file, bytes }: ConfigSource, env: Environment): SoundLayer {
  const { yaml, value } = open(file, bytes)
  const { filled, flaws } = fill(value, env)
  const problems = problemsOf(file, yaml, flaws)
  const wrong = flaws.map(({ path }) => itemOf(path))
  const { config, flaws: left } = checkConfig(
    withoutUnset(filled.value, [...filled.unset, ...wrong.map((path) => ({ path, names: [] }))]),
  )
  if (left.length > 0 || (problems.length > 0 && yaml.value === undefined)) throw new ConfigError(problems)
  const all = isObject(filled.value) && Array.isArray(filled.value["rules"]) ? filled.value["rules"] : []
  const isLeft = (place: string) => !wrong.some((path) => place.endsWith(` ${pathText(path)}`))
  return {
    ...layerOf(file, yaml, filled, config),
    problems,
    rulePlaces: config.rules === undefined ? [] : placesOfRules(file, { rules: all as Config["rules"] }).filter(isLeft),
    missesNames: wrong.some(([section]) => ["org", "mcpServers", "plugins", "modules"].includes(String(section))),
  }
}

/**
 * Fills in the variables and checks the result. A variable that failed leaves an empty text, which needs no second
 * problem.
 */
function fill(value: unknown, env: Environment) {
  const filled = interpolate(value, env)
  const failed = new Set([...filled.flaws, ...filled.unset].map(({ path }) => pathText(path)))
  const others = checkConfig(filled.value).flaws.filter(({ path }) => !failed.has(pathText(path)))
  return { filled, flaws: [...filled.flaws, ...others] }
}

/** The entry of a list that a mistake is in, otherwise the place of the mistake. */
function itemOf(path: Path): Path {
  const at = path.findIndex((step) => typeof step === "number")
  return at === -1 ? path : path.slice(0, at + 1)
}

function layerOf(file: string, yaml: ReadYaml, filled: ReturnType<typeof interpolate>, config: Config): TrustedLayer {
  return {
    config: resolvePathsFrom(dirname(file), config),
    warnings: filled.unset.map(({ path, sentence }) => {
      const { line, column } = yaml.placeOf(path)
      return `${file}:${line}:${column}: ${escapeControls(`${sentence} ${consequence(filled.value, path)}`)}`
    }),
    unset: unusableParts(filled.value, filled.unset),
    permissionPlaces: placesOfPermissions(file, config, yaml),
  }
}

/** A setting that does not apply because its file is not trusted. */
export interface IgnoredKey {
  file: string
  key: string
}

/** The part of an untrusted file that applies. */
export interface UntrustedLayer {
  config: Config
  ignored: IgnoredKey[]
  /** The agents that exist once the file is trusted. */
  agents: { file: string; id: string }[]
  /** The place of each remaining rule in the file. */
  rulePlaces: string[]
  permissionPlaces: PermissionPlaces
}

/** Reads an untrusted file as a layer: only its stricter settings, no variables, and the keys that are ignored. */
export function readUntrusted({ file, bytes }: ConfigSource): UntrustedLayer {
  const { yaml, value } = open(file, bytes)
  const plain = withoutVariables(value)
  const { config, flaws } = checkConfig(plain.value)
  throwIfAny(file, yaml, flaws)
  const tight = onlyTightening(config)
  const ignored = [...new Set([...plain.ignored, ...tight.ignored])]
  const rulePlaces = placesOfRules(file, config).filter((_, index) => !ignored.includes(pathText(["rules", index])))
  const strict = tight.value as Config
  const left = ignored.map((key) => ({ file, key }))
  const agents = (config.org?.agents ?? []).map(({ id }) => ({ file, id }))
  return {
    config: strict,
    ignored: left,
    agents,
    rulePlaces,
    permissionPlaces: placesOfPermissions(file, strict, yaml),
  }
}

/** Returns the place of each rule of a file, for example `quartermaster.yml rules[3]`. */
export function placesOfRules(file: string, { rules = [] }: Config): string[] {
  return rules.map((_, index) => `${basename(file)} ${pathText(["rules", index])}`)
}

function open(file: string, bytes: Buffer): { yaml: ReadYaml; value: unknown } {
  const yaml = readYaml(textOf(file, bytes))
  return { yaml, value: yaml.value === undefined ? {} : expandShortForms(yaml.value) }
}

function textOf(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new ConfigError([{ file, key: "", sentence: "This file is not UTF-8 text. Save it as UTF-8." }])
  }
}

function problemsOf(file: string, yaml: ReadYaml, flaws: readonly Flaw[]): ConfigProblem[] {
  return [
    ...yaml.problems.map((problem) => ({ file, key: "", ...problem })),
    ...flaws.map(({ path, what, sentence }) => ({ file, key: pathText(path), ...yaml.placeOf(path, what), sentence })),
  ]
}

function throwIfAny(file: string, yaml: ReadYaml, flaws: readonly Flaw[]): void {
  const problems = problemsOf(file, yaml, flaws)
  if (problems.length > 0) throw new ConfigError(problems)
}
