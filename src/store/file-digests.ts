import { createHash } from "node:crypto"
import { open } from "node:fs/promises"
import { resolve } from "node:path"
import type { Touches } from "../model/rule.ts"

const longest = 10 * 1024 * 1024

/** SHA-256 of every file a call names, by the path it was named with; what is no readable file has a word of its own. */
export async function fileDigests(touches: Touches, folder: string): Promise<Record<string, string>> {
  const paths = touches.list.filter(({ kind }) => kind === "read" || kind === "write").map(({ what }) => what)
  const digests = await Promise.all(
    [...new Set(paths)].map(async (path) => [path, await digestOf(resolve(folder, path))]),
  )
  return Object.fromEntries(digests) as Record<string, string>
}

async function digestOf(path: string): Promise<string> {
  try {
    const file = await open(path, "r")
    try {
      const stat = await file.stat({ bigint: true })
      if (!stat.isFile()) return stat.isDirectory() ? "folder" : "special"
      // What is too long to read each time is known by what changes with its content.
      if (stat.size > longest) return `${stat.size} bytes, ${stat.ino}, ${stat.mtimeNs}`
      return createHash("sha256")
        .update(await file.readFile())
        .digest("hex")
    } finally {
      await file.close()
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unreadable"
  }
}
