import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { pathText } from "../schema/problems.ts"
import { isSecretName } from "../lib/secret-names.ts"
import { expandShortForms } from "./check.ts"
import { configFilesIn, readSource, withLocalFile, type ConfigSource } from "./find.ts"
import { findProject } from "./find-project.ts"
import type { Environment } from "./interpolate.ts"
import { isObject } from "./merge.ts"
import { ConfigError } from "./config-error.ts"
import { readTrusted } from "./read-layer.ts"
import { onlyTightening, withoutVariables } from "./tighten.ts"
import { isPinned, refuseInside, trust, untrust } from "./trust.ts"
import { readYaml } from "../schema/yaml.ts"

/** What a person should see of a file before trusting it. */
export interface ExaminedConfig {
  files: { file: string; sha256: string }[]
  /** The settings that apply only when it is trusted, one `key: value` each. */
  allows: string[]
  /** Trusts exactly the bytes that were read. */
  pin(): void
}

/** Reads a configuration file without trusting it. One with problems is refused. */
export function examineConfig(
  given: string | undefined,
  { cwd, home, env }: { cwd: string; home: string; env: Environment },
): ExaminedConfig {
  const file = given === undefined ? configFilesIn(findProject(cwd, home) ?? cwd)[0] : resolve(cwd, given)
  if (file === undefined) {
    throw refused(cwd, "There is no configuration file in this folder or above it. Give its path, or run 'qm init'.")
  }
  refuseInside(file, env)
  const sources = withLocalFile(file).map(readSource)
  for (const source of sources) readTrusted(source, env)
  return {
    files: sources.map(({ file: path, bytes }) => ({
      file: path,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    })),
    allows: sources.flatMap(whatTrustAdds),
    pin() {
      trust(file, home, env)
      if (isPinned(sources, home)) return
      untrust(file, home)
      throw refused(file, "The file changed while you looked at it, so it is not trusted. Run 'qm trust' again.")
    },
  }
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}

/** The settings that are ignored until the file is trusted, with their values as written; secrets are masked. */
function whatTrustAdds({ bytes }: ConfigSource): string[] {
  const value = expandShortForms(readYaml(bytes.toString("utf8")).value)
  const plain = withoutVariables(value)
  const ignored = new Set([...plain.ignored, ...onlyTightening(plain.value).ignored])
  return nodesOf(value).flatMap(([key, part]) => (ignored.has(key) ? [`${key}: ${shown(key, part)}`] : []))
}

/** A reference to a variable is no secret and is shown. */
function shown(place: string, value: unknown): string {
  const own = /[^.]*$/.exec(place)![0]
  return JSON.stringify(value, (key, part: unknown) => {
    const isSecret = typeof part === "string" && isSecretName(key || own) && !/^[^$]*\$\{\w+\}$/.test(part)
    return isSecret ? "***" : part
  })
}

function nodesOf(value: unknown, path: readonly (string | number)[] = []): [string, unknown][] {
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(isObject(value) ? value : {})
  return [[pathText(path), value], ...inner.flatMap(([key, part]) => nodesOf(part, [...path, key]))]
}
