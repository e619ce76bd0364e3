import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { lstat, open, readlink, realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import type { Touches } from "../../core/touches.ts"

const maxHashedBytes = 10 * 1024 * 1024
/** Limit of files that are compared by their content. */
const maxHashedFiles = 200

/**
 * A description of every file a call names, by the path the call used: its real path, the target of a link, and the
 * SHA-256 of its content. Large files, and those after the first 200, have their size, inode and times instead; folders,
 * special files and missing files a word.
 */
export async function fileDigests(touches: Touches, folder: string): Promise<Record<string, string>> {
  const paths = touches.list.filter(({ kind }) => kind === "read" || kind === "write").map(({ what }) => what)
  const digests: Record<string, string> = {}
  const unique = [...new Set(paths)]
  for (let at = 0; at < unique.length; at += maxHashedFiles) {
    const maxBytes = at === 0 ? maxHashedBytes : -1
    const some = unique.slice(at, at + maxHashedFiles)
    const found = await Promise.all(some.map((path) => digestOf(resolve(folder, path), maxBytes)))
    for (const [place, path] of some.entries()) digests[path] = found[place]!
  }
  return digests
}

async function digestOf(path: string, maxBytes: number): Promise<string> {
  const place = join(await realpath(dirname(path)).catch(codeOf), basename(path))
  try {
    const stat = await lstat(path)
    if (stat.isSymbolicLink()) {
      const target = await realpath(path).catch(codeOf)
      return `${place} links to ${await readlink(path)}, ${target}, ${await contentOf(target, maxBytes)}`
    }
    return `${place} ${await contentOf(path, maxBytes)}`
  } catch (error) {
    return `${place} ${codeOf(error)}`
  }
}

/** Opens without blocking, because a pipe without a writer would block. */
async function contentOf(path: string, maxBytes: number): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = await file.stat({ bigint: true })
      if (!stat.isFile()) return stat.isDirectory() ? "folder" : "special"
      if (stat.size > maxBytes) return `${stat.size} bytes, ${stat.ino}, ${stat.mtimeNs}, ${stat.ctimeNs}`
      return createHash("sha256")
        .update(await file.readFile())
        .digest("hex")
    } finally {
      await file.close()
    }
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unreadable"
}
