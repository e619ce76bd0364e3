import { isObject } from "../lib/is-object.ts"
import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { pathText } from "../schema/problems.ts"
import { expandShortForms } from "./check-configuration.ts"
import { configFilesIn, readSource, withLocalFile, type ConfigSource } from "./find.ts"
import { findProject } from "./find-project.ts"
import type { Environment } from "./interpolate.ts"
import { ConfigError } from "./config-error.ts"
import { readTrusted } from "./read-layer.ts"
import { onlyTightening, withoutVariables } from "./tighten.ts"
import { isPinned, refuseInside, trust, untrust } from "./trust.ts"
import { trustLines } from "./trust-lines.ts"
import { readYaml } from "../schema/yaml.ts"

/** The parts of a file that a person should see before trusting it. */
export interface ExaminedConfig {
  files: { file: string; sha256: string }[]
  /** The settings that apply only when it is trusted, a line each. */
  allows: string[]
  /** True if exactly these bytes are trusted already. */
  isTrusted: boolean
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
    isTrusted: isPinned(sources, home),
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

/** Lists the settings ignored until the file is trusted: its rules first, then what it starts, then all others. */
function whatTrustAdds({ bytes }: ConfigSource): string[] {
  const value = expandShortForms(readYaml(bytes.toString("utf8")).value)
  const plain = withoutVariables(value)
  const ignored = new Set([...plain.ignored, ...onlyTightening(plain.value).ignored])
  const added = nodesOf(value).filter(([key]) => ignored.has(key))
  return [/^rules\b/, /^(tools\.)?mcpServers$|^(notify|plugins|modules)$/, /^/].flatMap((kind, at, kinds) =>
    added
      .filter(([key]) => kinds.findIndex((one) => one.test(key)) === at)
      .flatMap(([key, part]) => trustLines(key, part)),
  )
}

function nodesOf(value: unknown, path: readonly (string | number)[] = []): [string, unknown][] {
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(isObject(value) ? value : {})
  return [[pathText(path), value], ...inner.flatMap(([key, part]) => nodesOf(part, [...path, key]))]
}
