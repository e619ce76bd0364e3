import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * Creates a folder that only its owner can read, and its parents; returns false if it exists. Not with `recursive`, because
 * `mkdir` then loops where a parent exists but cannot contain folders, as under /proc.
 */
export function ensureFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") return false
    const parent = dirname(folder)
    if (code !== "ENOENT" || parent === folder || existsSync(parent)) throw error
    ensureFolder(parent)
    return ensureFolder(folder)
  }
}

/** The same for a data folder: a new one gets a `.gitignore`, so that its database and keys are not committed. */
export function ensureDataFolder(folder: string): boolean {
  if (!ensureFolder(folder)) return false
  writeFileSync(join(folder, ".gitignore"), "*\n", { mode: 0o600 })
  return true
}
