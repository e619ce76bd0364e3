import { lstat, readdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { FileSizes, Touches } from "../../core/touches.ts"

const mostFiles = 1000

/** Returns the present sizes at each path that a call writes or deletes. A folder with many files is left out. */
export async function fileSizes(touches: Touches, folder: string): Promise<FileSizes> {
  const paths = new Set(touches.list.filter(({ kind }) => kind === "write").map(({ what }) => what))
  const sizes = await Promise.all(
    [...paths].slice(0, mostFiles).map(async (path) => [path, await sizeOf(resolve(folder, path))] as const),
  )
  return Object.fromEntries(sizes.filter(([, size]) => size !== undefined)) as FileSizes
}

/** Links are not followed. */
async function sizeOf(path: string): Promise<{ files: number; bytes: number } | undefined> {
  const open = [path]
  const total = { files: 0, bytes: 0 }
  try {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const stat = await lstat(next)
      if (stat.isDirectory()) open.push(...(await readdir(next)).map((name) => join(next!, name)))
      else {
        total.files++
        total.bytes += stat.size
      }
      if (open.length + total.files > mostFiles) return undefined
    }
  } catch {
    return undefined
  }
  return total
}
