import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { lstat, open, readlink, realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import type { Touches } from "../model/rule.ts"

const maxHashedBytes = 10 * 1024 * 1024

/**
 * A description of every file a call names, by the path the call used: its real path, the target of a link, and the
 * SHA-256 of its content. Folders, special files and missing files have a word instead of the hash.
 */
export async function fileDigests(touches: Touches, folder: string): Promise<Record<string, string>> {
  const paths = touches.list.filter(({ kind }) => kind === "read" || kind === "write").map(({ what }) => what)
  const digests = await Promise.all(
    [...new Set(paths)].map(async (path) => [path, await digestOf(resolve(folder, path))]),
  )
  return Object.fromEntries(digests) as Record<string, string>
}

async function digestOf(path: string): Promise<string> {
  const place = join(await realpath(dirname(path)).catch(codeOf), basename(path))
  try {
    const stat = await lstat(path)
    if (stat.isSymbolicLink()) {
      const target = await realpath(path).catch(codeOf)
      return `${place} links to ${await readlink(path)}, ${target}, ${await contentOf(target)}`
    }
    return `${place} ${await contentOf(path)}`
  } catch (error) {
    return `${place} ${codeOf(error)}`
  }
}

/** Opens without blocking, because a pipe without a writer would block. */
async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = await file.stat({ bigint: true })
      if (!stat.isFile()) return stat.isDirectory() ? "folder" : "special"
      // A large file is identified by its size, inode and times instead of its content.
      if (stat.size > maxHashedBytes) return `${stat.size} bytes, ${stat.ino}, ${stat.mtimeNs}, ${stat.ctimeNs}`
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
