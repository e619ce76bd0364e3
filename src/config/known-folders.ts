import { createHash, randomBytes } from "node:crypto"
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { ownFolder } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import { createPrivateFile, readPrivateFile, writePrivateFile } from "./private-file.ts"
import { ConfigError } from "./problem.ts"

export interface FolderOptions {
  home: string
  env: Environment
  /** Whether a person named the folder, by a flag, a variable or a trusted file. Else it was found lying there. */
  named: boolean
}

/**
 * To be called before a data folder is opened. A folder that was found lying there and was not made by this user here is
 * refused: a cloned repository could bring approvals, grants, rules and people of its own. A new one is remembered as
 * made here. Inside a tool nothing is remembered, and nobody is there to be protected.
 */
export function enterFolder(dataDir: string, { home, env, named }: FolderOptions): void {
  if (env["QM_INSIDE"]) return
  if (!named && isLink(dataDir))
    throw refused(dataDir, "This data folder is a link. Name the folder itself with --data.")
  if (isNew(dataDir)) return makeKnown(dataDir, home, named)
  if (named) return
  const problem = problemWith(dataDir)
  if (problem !== undefined) throw refused(dataDir, problem)
  if (!isKnown(dataDir, home)) throw refused(dataDir, foreign(dataDir))
}

/** A folder a person is about to trust. */
export interface ExaminedFolder {
  folder: string
  /** Lets the folder be used without being named. */
  pin(): void
}

/** Looks at a data folder for `qm trust --data`. One that others could have changed is refused. */
export function examineFolder(
  given: string,
  { cwd, home, env }: { cwd: string; home: string; env: Environment },
): ExaminedFolder {
  const folder = resolve(cwd, given)
  if (env["QM_INSIDE"]) {
    const sentence = "A folder cannot be trusted from inside a tool (QM_INSIDE is set). Use your own terminal."
    throw refused(folder, sentence)
  }
  if (isNew(folder)) throw refused(folder, "There is no data in this folder. Correct the path.")
  const problem = problemWith(realpathSync(folder))
  if (problem !== undefined) throw refused(folder, problem)
  return { folder, pin: () => rememberFolder(folder, home) }
}

/** From now on this user may use the folder without naming it, as long as it stays where it is. */
export function rememberFolder(dataDir: string, home: string): void {
  const present = idOf(dataDir)
  if (present !== undefined) return note(dataDir, present, home)
  // Noted first: whoever sees the id in the folder, at this very moment in another process, finds it known.
  const id = randomBytes(16).toString("hex")
  note(dataDir, id, home)
  if (createPrivateFile(join(dataDir, idName), `${id}\n`)) return
  rmSync(noteFile(dataDir, id, home), { force: true })
  rememberFolder(dataDir, home)
}

const idName = "store.id"

/** What only a store leaves in a folder; of the database also what SQLite keeps beside it. */
const traces = [idName, "record.key", "journal", "artifacts"]
const databaseName = "quartermaster.db"

/** Whether nothing in it can have been prepared by anybody. */
function isNew(dataDir: string): boolean {
  return !namesIn(dataDir).some((name) => traces.includes(name) || name.startsWith(databaseName))
}

function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return []
    throw refused(dataDir, `This folder cannot be read (${code}). Only use a folder that is all yours.`)
  }
}

function makeKnown(dataDir: string, home: string, named: boolean): void {
  try {
    mkdirSync(dataDir, { recursive: false, mode: 0o700 })
  } catch (error) {
    // Where there can be no folder, the store says so in its own words.
    if (codeOf(error) !== "EEXIST" || !statSync(dataDir, { throwIfNoEntry: false })?.isDirectory()) return
  }
  try {
    rememberFolder(dataDir, home)
  } catch (error) {
    if (named) return
    const why = error instanceof ConfigError ? error.message : codeOf(error)
    const help = `Make ${ownFolder(home)} writable for you, or name the folder with: --data ${dataDir}`
    throw refused(dataDir, `That this folder was made here cannot be remembered (${why}). ${help}`)
  }
}

function isKnown(dataDir: string, home: string): boolean {
  const id = idOf(dataDir)
  return id !== undefined && readPrivateFile(noteFile(dataDir, id, home)) !== undefined
}

function idOf(dataDir: string): string | undefined {
  const file = join(dataDir, idName)
  const id = readPrivateFile(file)?.trim()
  if (id === undefined || /^[0-9a-f]{32}$/.test(id)) return id
  throw refused(file, "This file is damaged. Delete it, look at the folder, then trust it again with: qm trust --data")
}

function note(dataDir: string, id: string, home: string): void {
  const text = JSON.stringify({ folder: realpathSync(dataDir), id })
  writePrivateFile(noteFile(dataDir, id, home), `${text}\n`)
}

/** One small file for each folder in its place, so that no two processes write the same one. */
function noteFile(dataDir: string, id: string, home: string): string {
  const name = createHash("sha256")
    .update(JSON.stringify([realpathSync(dataDir), id]))
    .digest("hex")
  return join(ownFolder(home), "folders", name)
}

function foreign(dataDir: string): string {
  const why = "It may bring approvals, rules and people that you never saw."
  return `The folder ${dataDir} was not made here. ${why} Look at it, then say so with: qm trust --data ${dataDir}`
}

/** What of it somebody else could have written. What the database is made of is private since it was made. */
function problemWith(dataDir: string): string | undefined {
  const inside = namesIn(dataDir).map((name) => join(dataDir, name))
  for (const path of [dataDir, ...inside]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (found.isSymbolicLink())
      return `${path} is a link, and Quartermaster makes none. Look where it leads, then delete it.`
    if (process.getuid === undefined) continue
    if (found.uid !== process.getuid()) return `${path} belongs to somebody else. Only use a folder that is all yours.`
    if ((found.mode & 0o022) !== 0)
      return `Others can write ${path}. Look at what is there, then run: chmod go-w ${path}`
    if ((found.mode & 0o077) !== 0 && path.startsWith(join(dataDir, databaseName))) {
      return `Others can read ${path}, so Quartermaster did not make it. Look where it comes from, then run: chmod 600 ${path}`
    }
  }
  return undefined
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function refused(folder: string, sentence: string): ConfigError {
  return new ConfigError([{ file: folder, key: "", sentence }])
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
