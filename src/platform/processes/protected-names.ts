import { readdirSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { readGitConfig } from "../../guards/commands/git-config.ts"
import { confirmedBecause, hasListedChildren, protectedBecause } from "../../guards/paths/path-lists.ts"
import { readRegularFile } from "../../guards/read-regular-file.ts"
import { encodePath, decodeName } from "../../lib/byte-names.ts"
import { isWithin } from "./is-within.ts"
import type { ProtectedPath } from "./protected-mounts.ts"

/** The names in a folder that need a mount. */
export interface ProtectedNames {
  /** Mounted read-only; a missing one gets a placeholder. */
  readonly protectedPaths: readonly ProtectedPath[]
  /** Absent in the sandbox. */
  readonly hidden: readonly string[]
}

export interface ProtectionContext {
  isProtected(path: string, isFolder: boolean): boolean
  /** No person approved the command, so confirmed paths are protected too. */
  readonly unapproved: boolean
  /** The command may create a git repository. */
  readonly makesRepository: boolean
}

/**
 * The folders whose names are protected: the roots, the command's folder and those above it, and their git submodules.
 * Deeper folders are not searched.
 */
export function foldersToProtect(roots: readonly string[], cwd: string): string[] {
  const root = roots.find((folder) => isWithin(cwd, folder)) ?? cwd
  const folders = new Set(roots)
  for (let at = cwd; at !== root; at = dirname(at)) {
    // A protected folder is mounted whole.
    if (protectedBecause(`${relative(root, at)}/x`, "write") === undefined) folders.add(at)
  }
  for (const folder of folders) {
    for (const path of submodulesOf(folder)) if (folders.size < maxFolders) folders.add(path)
  }
  return [...folders]
}

const maxFolders = 200

/**
 * Reports whether the command line plainly says that it creates a repository. The person who approved it has read that.
 */
export function makesRepository(command: string): boolean {
  if (/[$`*?<>|(){}[\]\\'"#=]/.test(command)) return false
  return command.split(/&&|[;\n]/).some((part) => /^\s*git\s+(init|clone)(\s|$)/.test(part))
}

/** The names to protect in one folder. In `.git` only what makes git run programs, because git itself must work. */
export function namesToProtect(
  folder: string,
  { isProtected, unapproved, makesRepository }: ProtectionContext,
): ProtectedNames {
  const protectedPaths: ProtectedPath[] = []
  const hidden: string[] = []
  const names = namesIn(folder)
  if (names === undefined) return { protectedPaths, hidden }
  for (const [name, isFolder] of names) {
    // A folder with the name of a file is a placeholder of another command.
    if (name === ".git" || (isFolder && absentFiles.includes(name))) continue
    const path = join(folder, name)
    const isConfirmed = (inner: string, use: "read" | "write") =>
      unapproved && confirmedBecause(inner, use) !== undefined
    if (protectedBecause(name, "read") !== undefined || isConfirmed(name, "read")) hidden.push(path)
    else if (protectedBecause(name, "write") !== undefined || isConfirmed(name, "write") || isProtected(path, isFolder))
      protectedPaths.push({ path })
    if (!isFolder || !hasListedChildren(name)) continue
    for (const inner of namesIn(path)?.keys() ?? [])
      if (isConfirmed(`${name}/${inner}`, "read")) hidden.push(join(path, inner))
  }
  if (names.has(".git") || !makesRepository) {
    protectedPaths.push(...protectedGitPaths(join(folder, ".git")))
    if (unapproved)
      hidden.push(...["config", "config.worktree"].map((name) => join(folder, ".git", name)).filter(hasSecret))
  }
  const absent = [
    ...absentFolders.filter((name) => !names.has(name)),
    ...absentFiles.filter((name) => names.get(name) ?? unapproved),
  ]
  protectedPaths.push(...absent.map((name) => ({ path: `${join(folder, name)}/` })))
  return { protectedPaths, hidden }
}

/** Limits of names that are looked at, and of secrets that are masked. */
const maxNames = 50_000
const maxSecrets = 200

/**
 * The secrets anywhere below these folders, by their names: `apps/api/.env`, `infra/id_rsa`. Undefined when there are
 * too many names to look at each. Links are not followed, and `.git` and node_modules are left out.
 */
export function secretsBelow(folders: readonly string[], most = maxNames): readonly string[] | undefined {
  const found: string[] = []
  const open = [...folders]
  let left = most
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const [name, isFolder] of namesIn(folder) ?? []) {
      if (--left < 0) return undefined
      // Some names count only in a folder of another name.
      const inFolder = folders.includes(folder) ? name : `${basename(folder)}/${name}`
      if ((protectedBecause(inFolder, "read") ?? confirmedBecause(inFolder, "read")) !== undefined) {
        if (found.push(join(folder, name)) > maxSecrets) return undefined
      } else if (isFolder && name !== ".git" && name !== "node_modules") open.push(join(folder, name))
    }
  }
  return found
}

export const tooManyNames = `the workspace has more than ${maxNames} files or ${maxSecrets} secrets, too many to mask each secret`

/** Folders from which agents, editors and git run programs by themselves. A missing one gets an empty placeholder. */
const absentFolders = [".claude", ".cursor", ".codex", ".gemini", ".vscode", ".idea", ".devcontainer", ".husky"]

/**
 * Files from which programs run something by themselves. Their placeholder is an empty folder too: git ignores it,
 * while `git add` would add an empty file, and npm works with it.
 */
const absentFiles = [".mcp.json", ".envrc", ".npmrc", ".devcontainer.json"]

/** A `commondir` with one dot means the same as none; any other text would lead git to a foreign configuration. */
const protectedGitPaths = (git: string): ProtectedPath[] => [
  { path: join(git, "hooks/") },
  { path: join(git, "config") },
  { path: join(git, "commondir"), placeholder: ".\n" },
  ...["config.worktree", "modules/", "worktrees/"].map((name) => ({ path: join(git, name) })),
]

/** A git configuration with credentials is hidden; git works without it. */
function hasSecret(config: string): boolean {
  return /:\/\/(?!git@)[^/\s@]+@|extraheader|password|token/i.test(textIn(config))
}

function submodulesOf(folder: string): string[] {
  const settings = readGitConfig(textIn(join(folder, ".gitmodules"))) ?? []
  const paths = settings.filter(({ key }) => key === "submodule.*.path").map(({ value }) => resolve(folder, value))
  return paths.filter((path) => path !== folder && isReallyWithin(path, folder))
}

/** Inside the folder without passing through a link. */
function isReallyWithin(path: string, folder: string): boolean {
  try {
    return isWithin(path, folder) && realpathSync(path) === path
  } catch {
    return false
  }
}

function textIn(path: string): string {
  try {
    return readRegularFile(path, { maxBytes: 1_000_000 })
  } catch {
    return ""
  }
}

/** The names in a folder and whether each is a folder; undefined if it is not a folder or cannot be read. */
function namesIn(folder: string): Map<string, boolean> | undefined {
  try {
    const entries = readdirSync(encodePath(folder), { withFileTypes: true, encoding: "buffer" })
    return new Map(entries.map((entry) => [decodeName(entry.name), entry.isDirectory()]))
  } catch {
    return undefined
  }
}
