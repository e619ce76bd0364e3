import { readdirSync, type Dirent } from "node:fs"
import { posix } from "node:path"

const maxEntries = 3000

/**
 * All folders and regular files below a folder; undefined when there are too many or a folder cannot be read. Links are
 * left out, and so is node_modules, which would exceed the limit and holds no secrets.
 */
export function listTree(folder: string): readonly string[] | undefined {
  const found: string[] = []
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries = entriesOf(next)
    if (entries === undefined) return undefined
    for (const entry of entries) {
      if (entry.isSymbolicLink() || entry.name === "node_modules") continue
      const path = posix.join(next, entry.name)
      if (found.push(path) > maxEntries) return undefined
      if (entry.isDirectory()) open.push(path)
    }
  }
  return found
}

/** Reports whether a name has bytes that are not valid UTF-8: opening the decoded name would find nothing. */
export function isUndecodable(name: string): boolean {
  return name.includes("\uFFFD")
}

/** Reports whether an error means that the folder does not exist. */
export function isMissingFolder(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.some(({ name }) => isUndecodable(name)) ? undefined : entries
  } catch (error) {
    return isMissingFolder(error) ? [] : undefined
  }
}
