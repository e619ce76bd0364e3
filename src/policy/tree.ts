import { readdirSync, type Dirent } from "node:fs"
import { posix } from "node:path"

const mostInTree = 3000

/**
 * All folders and plain files below a folder; undefined when there are too many to look at, or
 * some that cannot be. Links are left out, and so are
 * packages of others: nobody keeps a secret there, and there are more of them than of all else.
 */
export function treeOf(folder: string, hidden: boolean): readonly string[] | undefined {
  const found: string[] = []
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries = entriesOf(next)
    if (entries === undefined) return undefined
    for (const entry of entries) {
      if (entry.isSymbolicLink() || (!hidden && entry.name.startsWith(".")) || entry.name === "node_modules") continue
      const path = posix.join(next, entry.name)
      if (found.push(path) > mostInTree) return undefined
      if (entry.isDirectory()) open.push(path)
    }
  }
  return found
}

/** Whether a name has bytes that are no text: it is read as another name, under which nothing is found. */
export function isUnspeakable(name: string): boolean {
  return name.includes("\uFFFD")
}

/** Whether a folder could not be read because there is none. */
export function isNoFolder(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.some(({ name }) => isUnspeakable(name)) ? undefined : entries
  } catch (error) {
    return isNoFolder(error) ? [] : undefined
  }
}
