import { posix } from "node:path"
import type { Disk } from "./disk.ts"
import { foreignSetting, readGitConfig } from "./git-config.ts"

/**
 * Why git may do more in a folder than its arguments say: it would use another repository than the workspace's own, or
 * the settings make git run programs or read other files. The text continues a sentence after "because".
 */
export function repositoryDoubt(folder: string, workspace: string, disk: Disk): string | undefined {
  if (usesOtherRepository(folder, workspace, disk)) return "git would use the settings of another repository"
  try {
    return settingsDoubt(workspace, disk)
  } catch {
    return "the settings of the git repository cannot be read"
  }
}

/** Reports whether git would find a repository between the folder and the workspace, or above the workspace. */
function usesOtherRepository(folder: string, workspace: string, disk: Disk): boolean {
  let place = disk.realpath(folder)
  // If the folder does not exist, `cd` fails and nothing runs in it.
  if (place === undefined) return false
  for (;;) {
    const names = disk.names(place)?.map((name) => name.toLowerCase())
    const has = (name: string) => names?.includes(name.toLowerCase()) ?? exists(posix.join(place!, name), disk)
    // A folder with a file HEAD may itself be a (bare) repository.
    if (has("HEAD")) return true
    if (place === workspace) return !isRepository(workspace, disk) && isBelowRepository(workspace, disk)
    if (has(".git") || place.length <= workspace.length) return true
    place = posix.dirname(place)
  }
}

function exists(path: string, disk: Disk): boolean {
  return disk.realpath(path) !== undefined
}

/** Reports whether the repository begins above the workspace, so that git would show files outside it. */
function isBelowRepository(workspace: string, disk: Disk): boolean {
  for (let place = workspace; place !== "/";) {
    place = posix.dirname(place)
    if (exists(posix.join(place, ".git"), disk)) return true
  }
  return false
}

/** Git ignores a folder `.git` without a HEAD. */
function isRepository(place: string, disk: Disk): boolean {
  const dotGit = posix.join(place, ".git")
  return exists(dotGit, disk) && (disk.isFile(dotGit) || exists(posix.join(dotGit, "HEAD"), disk))
}

const maxSubmoduleDepth = 5
const maxConfigBytes = 1_000_000
const maxIndexBytes = 20_000_000

/**
 * Checks the settings of the repository in a folder and of its submodules, which git reads too. Throws if one cannot be
 * read.
 */
function settingsDoubt(place: string, disk: Disk, depth = 0): string | undefined {
  if (!exists(posix.join(place, ".git"), disk)) return undefined
  if (depth > maxSubmoduleDepth) return "submodules are nested too deep"
  const own = ownFolder(place, disk)
  const common = lineIn(posix.join(own, "commondir"), disk)
  const shared = common === undefined ? own : posix.resolve(own, common)
  for (const file of [posix.join(shared, "config"), posix.join(own, "config.worktree")]) {
    const text = disk.bytes(file, maxConfigBytes)?.toString()
    if (text === undefined) continue
    const settings = readGitConfig(text)
    if (settings === undefined) return `the git configuration '${file}' cannot be read`
    const relevant = settings.filter(
      ({ key, value }) => key !== "core.worktree" || !leadsTo(posix.resolve(own, value), place, disk),
    )
    const foreign = foreignSetting(relevant)
    if (foreign !== undefined)
      return `the repository's settings contain '${foreign}', which may make git run a program or read other files`
  }
  const index = disk.bytes(posix.join(own, "index"), maxIndexBytes)
  for (const path of index === undefined ? [] : submodulesIn(index)) {
    const doubt = settingsDoubt(posix.join(place, path), disk, depth + 1)
    if (doubt !== undefined) return `${doubt}, in the submodule '${path}'`
  }
  return undefined
}

function leadsTo(path: string, place: string, disk: Disk): boolean {
  return disk.realpath(path) === disk.realpath(place)
}

/** The folder of the repository: `.git`, or the folder that a file `.git` names. */
function ownFolder(place: string, disk: Disk): string {
  const dotGit = disk.realpath(posix.join(place, ".git"))!
  if (!disk.isFile(dotGit)) return dotGit
  const line = lineIn(dotGit, disk)
  if (line?.startsWith("gitdir: ") !== true) throw new Error("The file .git names no repository.")
  return posix.resolve(place, line.slice("gitdir: ".length))
}

function lineIn(file: string, disk: Disk): string | undefined {
  return disk
    .bytes(file, maxConfigBytes)
    ?.toString()
    .replace(/[\r\n]+$/, "")
}

/** The paths of submodules in an index. Throws for anything but an unsplit index of version 2 or 3. */
function submodulesIn(index: Buffer): string[] {
  const version = index.readUInt32BE(4)
  if (index.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) throw new Error("Not an index.")
  const found: string[] = []
  let at = 12
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const start = at + ((index.readUInt16BE(at + 60) & 0x4000) === 0 ? 62 : 64)
    const end = index.indexOf(0, start)
    if (end === -1) throw new Error("A name in the index does not end.")
    if (index.readUInt32BE(at + 24) === 0o160000) found.push(index.toString("utf8", start, end))
    at += Math.floor((end - at) / 8) * 8 + 8
  }
  // A required extension has a lower-case name, for example the one of a split index.
  for (; at < index.length - 20; at += 8 + index.readUInt32BE(at + 4))
    if (/^[a-z]/.test(index.toString("latin1", at, at + 1))) throw new Error("Not all of the index is in it.")
  return found
}
