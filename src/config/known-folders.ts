import { createHash, randomBytes } from "node:crypto"
import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { ensureDataFolder } from "../lib/ensure-folder.ts"
import { userConfigFolder } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import { createPrivateFile, readPrivateFile, writePrivateFile } from "./private-file.ts"
import { ConfigError } from "./config-error.ts"

export interface FolderOptions {
  home: string | undefined
  env: Environment
  /** True if a person named the folder, by an option, a variable or a trusted file, instead of using the default. */
  named: boolean
}

/**
 * Call this before opening a data folder. Refuses a folder that nobody named and that this user did not create: a
 * cloned repository could bring its own approvals, grants, rules and people. A new folder is remembered as created
 * here. Inside a tool nothing is checked or remembered.
 */
export function requireKnownFolder(dataDir: string, { home, env, named }: FolderOptions): void {
  requireFolder(dataDir, { home, env, named, mustRemember: !named, otherWay: "" })
}

/**
 * The same for a program that uses the library. It named the folder if its own code passes `data.dir`. A new folder
 * that cannot be remembered is used all the same.
 */
export function requireFolderOfProgram(
  dataDir: string,
  data: { dir?: string } | undefined,
  { home, env }: Pick<FolderOptions, "home" | "env">,
): void {
  const named = data?.dir !== undefined && !unnamed.has(data)
  const otherWay = `name it in the code of your program, data: { dir: ${JSON.stringify(dataDir)} } (the way in a container whose home folder is new each time), or `
  requireFolder(dataDir, { home, env, named, mustRemember: false, otherWay })
}

function requireFolder(
  dataDir: string,
  { home, env, named, mustRemember, otherWay }: FolderOptions & { mustRemember: boolean; otherWay: string },
): void {
  if (env["QM_INSIDE"]) return
  if (!named && isLink(dataDir))
    throw refused(dataDir, "This data folder is a link. Name the folder itself with --data, or data.dir in your code.")
  if (isNew(dataDir)) return makeKnown(dataDir, home, mustRemember)
  if (named) return
  const problem = problemWith(dataDir)
  if (problem !== undefined) throw refused(dataDir, problem)
  if (home === undefined || !isKnown(dataDir, home)) throw refused(dataDir, foreign(dataDir, otherWay))
}

const unnamed = new WeakSet<object>()

/** Marks a `data` section whose folder no code of the program names: it comes from a file, or is a default. */
export function asUnnamed<T extends object>(data: T): T {
  unnamed.add(data)
  return data
}

/**
 * The data folders this user has created or trusted, as far as they are still there and nobody else could change them.
 */
export function knownFolders(home: string): string[] {
  const notes = join(userConfigFolder(home), "folders")
  const folders = namesIn(notes).flatMap((name) => {
    try {
      const { folder } = JSON.parse(readPrivateFile(join(notes, name)) ?? "{}") as { folder?: unknown }
      const isUsable = typeof folder === "string" && !isNew(folder) && isKnown(folder, home)
      return isUsable && problemWith(folder) === undefined ? [folder] : []
    } catch {
      return []
    }
  })
  return [...new Set(folders)].sort()
}

/** A folder a person is about to trust. */
export interface ExaminedFolder {
  folder: string
  /** Lets the folder be used without being named. */
  pin(): void
}

/** Checks a data folder for `qm trust --data`. One that other users could have changed is refused. */
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

/** Lets this user use the folder without naming it, as long as it stays where it is. */
export function rememberFolder(dataDir: string, home: string): void {
  const present = idOf(dataDir)
  if (present !== undefined) return note(dataDir, present, home)
  // Remember it first, so that another process that sees the id in the folder finds it known.
  const id = randomBytes(16).toString("hex")
  note(dataDir, id, home)
  if (createPrivateFile(join(dataDir, idName), `${id}\n`)) return
  rmSync(noteFile(dataDir, id, home), { force: true })
  rememberFolder(dataDir, home)
}

const idName = "store.id"

/** Files that only a store creates. Names that begin with the database's name count too. */
const traces = [idName, "record.key", "journal", "artifacts"]
const databaseName = "quartermaster.db"

/** Reports whether the folder contains no data yet. */
export function isNew(dataDir: string): boolean {
  return !namesIn(dataDir).some((name) => traces.includes(name) || name.startsWith(databaseName))
}

function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return []
    throw refused(dataDir, `This folder cannot be read (${code}). Use a folder that is all yours.`)
  }
}

function makeKnown(dataDir: string, home: string | undefined, mustRemember: boolean): void {
  try {
    if (!ensureDataFolder(dataDir) && !statSync(dataDir).isDirectory()) return
  } catch {
    // If no folder can be created, opening the store reports it.
    return
  }
  if (home === undefined) return
  try {
    rememberFolder(dataDir, home)
  } catch (error) {
    if (!mustRemember) return
    const why = error instanceof ConfigError ? error.message : codeOf(error)
    const help = `Make ${userConfigFolder(home)} writable for you, or name the folder with: --data ${dataDir}`
    throw refused(dataDir, `It cannot be remembered that this folder was created here (${why}). ${help}`)
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
  throw refused(file, "This file is damaged. Delete it, check the folder, then trust it again with: qm trust --data")
}

function note(dataDir: string, id: string, home: string): void {
  const text = JSON.stringify({ folder: realpathSync(dataDir), id })
  writePrivateFile(noteFile(dataDir, id, home), `${text}\n`)
}

/** One file for each folder, so that two processes never write the same file. */
function noteFile(dataDir: string, id: string, home: string): string {
  const name = createHash("sha256")
    .update(JSON.stringify([realpathSync(dataDir), id]))
    .digest("hex")
  return join(userConfigFolder(home), "folders", name)
}

function foreign(dataDir: string, otherWay: string): string {
  const why = "It may contain approvals, rules and people that you do not know."
  return `The folder ${dataDir} was not created by you on this machine. ${why} Check it, then ${otherWay}run: qm trust --data ${dataDir}`
}

/** Why other users could have written to the folder; undefined if they could not. Database files must be private. */
function problemWith(dataDir: string): string | undefined {
  const inside = namesIn(dataDir).map((name) => join(dataDir, name))
  for (const path of [dataDir, ...inside]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (found.isSymbolicLink())
      return `${path} is a link, which Quartermaster never creates. Check where it leads, then delete it.`
    if (process.getuid === undefined) continue
    if (found.uid !== process.getuid()) return `${path} belongs to another user. Use a folder that is all yours.`
    if ((found.mode & 0o022) !== 0)
      return `Other users can write to ${path}. Check its content, then run: chmod go-w ${path}`
    if ((found.mode & 0o077) !== 0 && path.startsWith(join(dataDir, databaseName))) {
      return `Other users can read ${path}, so Quartermaster did not create it. Check where it comes from, then run: chmod 600 ${path}`
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
