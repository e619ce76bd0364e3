import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Environment } from "./interpolate.ts"
import { ConfigError } from "./config-error.ts"

export interface FoundConfig {
  file: string
  /** Given by path, found in the project, or found in the user's configuration folder. */
  place: "given" | "project" | "own"
}

export interface ConfigSource {
  file: string
  bytes: Buffer
}

export const fileNames = ["quartermaster.yml", "quartermaster.yaml", "quartermaster.json"] as const
export const localName = "quartermaster.local.yml"

/** The file given by path, otherwise the one in the project (see `findProject`), otherwise the user's. */
export function findConfig(
  { cwd, env, home }: { cwd: string; env: Environment; home: string },
  project: string | undefined,
  configPath?: string,
): FoundConfig | undefined {
  const given = configPath ?? (env["QM_CONFIG"] || undefined)
  if (given !== undefined) return { file: resolve(cwd, given), place: "given" }
  const here = project === undefined ? undefined : configFilesIn(project)[0]
  const own = userConfigFile(home)
  if (here !== undefined) return { file: here, place: dirname(here) === dirname(own) ? "own" : "project" }
  return existsSync(own) ? { file: own, place: "own" } : undefined
}

export function configFilesIn(folder: string): string[] {
  return fileNames.map((name) => resolve(folder, name)).filter((file) => existsSync(file))
}

export function userConfigFolder(home: string): string {
  return join(home, ".config", "quartermaster")
}

export function userConfigFile(home: string): string {
  return resolve(userConfigFolder(home), fileNames[0])
}

/** A configuration file, and the local file beside it if there is one. */
export function withLocalFile(file: string): string[] {
  const local = join(dirname(file), localName)
  return local !== file && existsSync(local) ? [file, local] : [file]
}

/** Reads a file once, so that the bytes that are hashed for trust are the bytes that are parsed. */
export function readSource(file: string): ConfigSource {
  return readUpTo(file, maxConfigBytes)
}

/** The same with another size limit. */
export function readUpTo(file: string, maxBytes: number): ConfigSource {
  const refuse = (sentence: string) => new ConfigError([{ file, key: "", sentence }])
  try {
    const problem = problemWith(file, maxBytes)
    if (problem) throw refuse(problem)
    return { file, bytes: readFileSync(file) }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw refuse(
      `This file cannot be read (${(error as NodeJS.ErrnoException).code}). Correct the path or the file permissions.`,
    )
  }
}

const maxConfigBytes = 256 * 1024

function problemWith(file: string, maxBytes: number): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return "This configuration file does not exist. Correct the path, or run 'qm init' to write one."
  if (!found.isFile()) return "This is not a file. Give the path of a configuration file."
  if (found.size > maxBytes)
    return `This file is larger than ${maxBytes} bytes. A configuration is smaller; shorten it.`
  return undefined
}
