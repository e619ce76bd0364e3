import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Environment } from "./interpolate.ts"
import { ConfigError } from "./problem.ts"

export interface Found {
  file: string
  /** Given by path; found in the working folder; or in the folder of the user's own configuration. */
  place: "given" | "working folder" | "own"
}

export interface Source {
  file: string
  bytes: Buffer
}

export const fileNames = ["quartermaster.yml", "quartermaster.yaml", "quartermaster.json"] as const
export const localName = "quartermaster.local.yml"

/** The file to read: the one given, else the working folder's, else the user's own. Folders above are not searched. */
export function findConfig(cwd: string, env: Environment, home: string, configPath?: string): Found | undefined {
  const given = configPath ?? (env["QM_CONFIG"] || undefined)
  if (given !== undefined) return { file: resolve(cwd, given), place: "given" }
  const here = configFilesIn(cwd)[0]
  const inOwnFolder = resolve(cwd) === resolve(ownFolder(home))
  if (here !== undefined) return { file: here, place: inOwnFolder ? "own" : "working folder" }
  const own = ownFile(home)
  return existsSync(own) ? { file: own, place: "own" } : undefined
}

export function configFilesIn(folder: string): string[] {
  return fileNames.map((name) => resolve(folder, name)).filter((file) => existsSync(file))
}

export function ownFolder(home: string): string {
  return join(home, ".config", "quartermaster")
}

export function ownFile(home: string): string {
  return resolve(ownFolder(home), fileNames[0])
}

/** A configuration file, and the local file beside it if there is one. */
export function withLocalFile(file: string): string[] {
  const local = join(dirname(file), localName)
  return local !== file && existsSync(local) ? [file, local] : [file]
}

/** Reads a file once: what is trusted by its hash and what is parsed are the same bytes. */
export function readSource(file: string): Source {
  return readUpTo(file, largest)
}

/** The same for a file that may be larger than a configuration of ours. */
export function readUpTo(file: string, mostBytes: number): Source {
  const refuse = (sentence: string) => new ConfigError([{ file, key: "", sentence }])
  try {
    const problem = problemWith(file, mostBytes)
    if (problem) throw refuse(problem)
    return { file, bytes: readFileSync(file) }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw refuse(`This file cannot be read (${(error as NodeJS.ErrnoException).code}). Correct the path or its rights.`)
  }
}

const largest = 256 * 1024

function problemWith(file: string, mostBytes: number): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return "This configuration file does not exist. Correct the path, or run 'qm init' to write one."
  if (!found.isFile()) return "This is not a file. Give the path of a configuration file."
  if (found.size > mostBytes)
    return `This file is larger than ${mostBytes} bytes. A configuration is smaller; shorten it.`
  return undefined
}
