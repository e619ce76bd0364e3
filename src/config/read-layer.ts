import { basename, dirname } from "node:path"
import { pathText } from "../schema/problems.ts"
import { checkConfig, expandShortForms, type Flaw } from "./check.ts"
import type { ConfigSource } from "./find.ts"
import { interpolate, type Environment } from "./interpolate.ts"
import { ConfigError, escapeControls, type ConfigProblem } from "./config-error.ts"
import type { Config } from "./schema.ts"
import { resolvePathsFrom } from "./settings.ts"
import { onlyTightening, withoutVariables } from "./tighten.ts"
import { readYaml, type ReadYaml } from "./yaml.ts"

/** Reads a trusted file as a layer, with variables replaced. Throws all its problems at once. */
export function readTrusted({ file, bytes }: ConfigSource, env: Environment): Config {
  const { yaml, value } = open(file, bytes)
  const filled = interpolate(value, env)
  const { config, flaws } = checkConfig(filled.value)
  // A variable that failed leaves an empty text, which needs no second problem.
  const failed = new Set(filled.flaws.map(({ path }) => pathText(path)))
  const others = flaws.filter(({ path }) => !failed.has(pathText(path)))
  throwIfAny(file, yaml, [...filled.flaws, ...others])
  return resolvePathsFrom(dirname(file), config)
}

/** The part of an untrusted file that applies. */
export interface UntrustedLayer {
  config: Config
  warnings: string[]
  /** Where each remaining rule is in the file. */
  rulePlaces: string[]
}

/** Reads an untrusted file as a layer: only its stricter settings, no variables, and a warning for each ignored key. */
export function readUntrusted({ file, bytes }: ConfigSource): UntrustedLayer {
  const { yaml, value } = open(file, bytes)
  const plain = withoutVariables(value)
  const { config, flaws } = checkConfig(plain.value)
  throwIfAny(file, yaml, flaws)
  const tight = onlyTightening(config)
  const ignored = [...new Set([...plain.ignored, ...tight.ignored])]
  const warnings = ignored.map(
    (key) =>
      `'${escapeControls(key)}' in ${file} is ignored because the file is not trusted. Run 'qm trust' after reading it.`,
  )
  const rulePlaces = placesOfRules(file, config).filter((_, index) => !ignored.includes(pathText(["rules", index])))
  return { config: tight.value as Config, warnings, rulePlaces }
}

/** Where each rule of a file is, for example `quartermaster.yml rules[3]`. */
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

function throwIfAny(file: string, yaml: ReadYaml, flaws: readonly Flaw[]): void {
  const problems: ConfigProblem[] = [
    ...yaml.problems.map((problem) => ({ file, key: "", ...problem })),
    ...flaws.map(({ path, what, sentence }) => ({ file, key: pathText(path), ...yaml.placeOf(path, what), sentence })),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
}
