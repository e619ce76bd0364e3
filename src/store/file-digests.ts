import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { lstat, open, readlink, realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import type { Touches } from "../model/rule.ts"

const longest = 10 * 1024 * 1024

/**
 * What every file a call names is, by the path it was named with: its real place, where a link leads, and a SHA-256 of
 * its content. What is no file, or is not there, has a word of its own.
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

/** Opened so that a pipe nobody writes into does not hold us. */
async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = await file.stat({ bigint: true })
      if (!stat.isFile()) return stat.isDirectory() ? "folder" : "special"
      // What is too long to read each time is known by what changes with its content.
      if (stat.size > longest) return `${stat.size} bytes, ${stat.ino}, ${stat.mtimeNs}, ${stat.ctimeNs}`
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
