import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { pathText } from "../model/problems.ts"
import { namesSecret } from "../model/secret-names.ts"
import { spellOut } from "./check.ts"
import { configFilesIn, readSource, withLocalFile, type Source } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import { isObject } from "./merge.ts"
import { ConfigError } from "./problem.ts"
import { readTrusted } from "./read.ts"
import { onlyTightening, withoutVariables } from "./tighten.ts"
import { isPinned, refuseInside, trust, untrust } from "./trust.ts"
import { readYaml } from "./yaml.ts"

/** A file as a person should see it before it is trusted. */
export interface Examined {
  files: { file: string; sha256: string }[]
  /** What it says that counts only when it is trusted, one `key: value` each. */
  allows: string[]
  /** Trusts just the bytes that were looked at. */
  pin(): void
}

/** Reads a configuration file without trusting it. One with problems is refused. */
export function examine(
  given: string | undefined,
  { cwd, home, env }: { cwd: string; home: string; env: Environment },
): Examined {
  const file = given === undefined ? configFilesIn(cwd)[0] : resolve(cwd, given)
  if (file === undefined) {
    throw refused(cwd, "There is no configuration file in this folder. Give its path, or run 'qm init'.")
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
      throw refused(file, "It was changed while it was looked at, so it is not trusted. Run 'qm trust' again.")
    },
  }
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}

/** What a file says that is ignored until it is trusted, with its values as written; secrets are not shown. */
function whatTrustAdds({ bytes }: Source): string[] {
  const value = spellOut(readYaml(bytes.toString("utf8")).value)
  const plain = withoutVariables(value)
  const ignored = new Set([...plain.ignored, ...onlyTightening(plain.value).ignored])
  return nodesOf(value).flatMap(([key, part]) => (ignored.has(key) ? [`${key}: ${shown(key, part)}`] : []))
}

/** A reference to a variable is none, and a person should see it. */
function shown(place: string, value: unknown): string {
  const own = /[^.]*$/.exec(place)![0]
  return JSON.stringify(value, (key, part: unknown) => {
    const isSecret = typeof part === "string" && namesSecret(key || own) && !/^[^$]*\$\{\w+\}$/.test(part)
    return isSecret ? "***" : part
  })
}

function nodesOf(value: unknown, path: readonly (string | number)[] = []): [string, unknown][] {
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(isObject(value) ? value : {})
  return [[pathText(path), value], ...inner.flatMap(([key, part]) => nodesOf(part, [...path, key]))]
}
