import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Creates a folder that only its owner can read, and its parents. Not with `recursive`, because `mkdir` then loops where a
 * parent exists but cannot contain folders, as under /proc.
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
