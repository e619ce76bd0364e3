import { createHash } from "node:crypto"
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { z } from "zod"
import { userConfigFolder, readSource, withLocalFile, type ConfigSource } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import { writePrivateFile } from "./private-file.ts"
import { ConfigError } from "./config-error.ts"

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const pinsSchema = z.record(z.string(), z.strictObject({ sha256: digest, local: digest.nullable() }))
type Pins = z.infer<typeof pinsSchema>

export interface Pin {
  path: string
  sha256: string
}

/** Trusts a configuration file and its local file with their current content. Any change in either ends the trust. */
export function trust(file: string, home: string, env: Environment): Pin {
  refuseInside(file, env)
  const pin = pinOf(sourcesOf(file))
  const path = pinnedPath(file)
  writePins({ ...readPins(home), [path]: pin }, home)
  return { path, sha256: pin.sha256 }
}

/** Removes a pin; returns false if there was none. */
export function untrust(file: string, home: string): boolean {
  const path = pinnedPath(file)
  const { [path]: pin, ...others } = readPins(home)
  if (pin) writePins(others, home)
  return pin !== undefined
}

export function isTrusted(file: string, home: string): boolean {
  return existsSync(file) && isPinned(sourcesOf(file), home)
}

/** Reports whether exactly these bytes are pinned: the file first, then its local file if it has one. */
export function isPinned(sources: readonly ConfigSource[], home: string): boolean {
  if (!sources[0]) return false
  const pin = readPins(home)[pinnedPath(sources[0].file)]
  const now = pinOf(sources)
  return pin?.sha256 === now.sha256 && pin.local === now.local
}

/** A program started by an agent cannot trust anything, because an agent must not approve itself. */
export function refuseInside(file: string, env: Environment): void {
  if (!env["QM_INSIDE"]) return
  const sentence =
    "A file cannot be trusted from inside a tool (QM_INSIDE is set). Run 'qm trust' in your own terminal."
  throw new ConfigError([{ file, key: "", sentence }])
}

function sourcesOf(file: string): ConfigSource[] {
  return withLocalFile(resolve(file)).map(readSource)
}

function pinOf([main, local]: readonly ConfigSource[]): Pins[string] {
  return { sha256: sha256(main), local: local ? sha256(local) : null }
}

function sha256(source: ConfigSource | undefined): string {
  return createHash("sha256")
    .update(source?.bytes ?? "")
    .digest("hex")
}

/** Uses the folder's real path, because paths in the file are relative to it. */
function pinnedPath(file: string): string {
  const folder = dirname(resolve(file))
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(file))
}

function pinsFile(home: string): string {
  return join(userConfigFolder(home), "trusted.json")
}

function writePins(pins: Pins, home: string): void {
  writePrivateFile(pinsFile(home), `${JSON.stringify(pins, null, 2)}\n`)
}

function readPins(home: string): Pins {
  const file = pinsFile(home)
  if (!existsSync(file)) return {}
  try {
    return pinsSchema.parse(JSON.parse(readFileSync(file, "utf8")))
  } catch {
    const sentence = "The list of trusted files cannot be read. Delete it, then run 'qm trust' for each file you trust."
    throw new ConfigError([{ file, key: "", sentence }])
  }
}
