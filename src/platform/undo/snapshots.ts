import { createHash } from "node:crypto"
import { lstatSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { git, type SnapshotRepository } from "./git.ts"

/** A file as it was: its mode in git's words, and the hash of its content. */
export interface FileState {
  readonly mode: string
  readonly hash: string
}

/** The change of one file. Without `before` it was made, without `after` it was deleted. */
export interface FileChange {
  readonly path: string
  readonly before?: FileState
  readonly after?: FileState
}

/** Larger files are left out. */
export const mostBytes = 10 * 1024 * 1024

/** Takes a snapshot of every file that git does not ignore and that may be shown. Returns its id. */
export async function takeSnapshot(repository: SnapshotRepository, isKept: (path: string) => boolean): Promise<string> {
  const listed = await git(repository, ["ls-files", "-z", "-o", "-m", "-d", "--exclude-standard"])
  const paths = [...new Set(listed.toString("utf8").split("\0"))].filter(
    (path) => path !== "" && !path.endsWith("/") && isKept(path) && fits(join(repository.workspace, path)),
  )
  if (paths.length > 0)
    await git(repository, ["update-index", "-z", "--add", "--remove", "--stdin"], paths.map((path) => `${path}\0`).join("")) // prettier-ignore
  return (await git(repository, ["write-tree"])).toString("utf8").trim()
}

/** True for what is gone too: the snapshot says so then. */
function fits(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found === undefined || found.isSymbolicLink() || (found.isFile() && found.size <= mostBytes)
}

/** The files in which two snapshots differ. */
export async function changesBetween(
  repository: SnapshotRepository,
  before: string,
  after: string,
): Promise<FileChange[]> {
  if (before === after) return []
  const text = await git(repository, ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", before, after])
  const parts = text.toString("utf8").split("\0")
  const changes: FileChange[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [beforeMode = "", afterMode = "", beforeHash = "", afterHash = ""] = parts[at]!.slice(1).split(" ")
    changes.push({
      path: parts[at + 1]!,
      ...(beforeMode === none ? {} : { before: { mode: beforeMode, hash: beforeHash } }),
      ...(afterMode === none ? {} : { after: { mode: afterMode, hash: afterHash } }),
    })
  }
  return changes
}

const none = "000000"

export function readContent(repository: SnapshotRepository, { hash }: FileState): Promise<Buffer> {
  return git(repository, ["cat-file", "blob", hash])
}

/** The hash of what is at a path now, as git computes it. Undefined when nothing is there. */
export function hashNow(workspace: string, path: string): string | undefined {
  const file = join(workspace, path)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!found.isFile() && !found.isSymbolicLink()) return ""
  const bytes = found.isFile() ? readFileSync(file) : Buffer.from(readlinkSync(file))
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
}
