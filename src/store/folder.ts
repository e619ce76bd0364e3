import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Makes a folder for its owner alone, and the ones above it. By hand, because `mkdir` with `recursive` goes round in
 * circles where a parent exists and still cannot hold a folder, as under /proc.
 */
export function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") return
    const parent = dirname(folder)
    if (code !== "ENOENT" || parent === folder || existsSync(parent)) throw error
    ensureFolder(parent)
    mkdirSync(folder, { mode: 0o700 })
  }
}
