import { readdirSync, type Dirent } from "node:fs"
import { posix } from "node:path"

const mostInTree = 3000

/**
 * All folders and plain files below a folder; undefined when there are too many to look at. Links are left out, and so are
 * packages of others: nobody keeps a secret there, and there are more of them than of all else.
 */
export function treeOf(folder: string, hidden: boolean): readonly string[] | undefined {
  const found: string[] = []
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entriesOf(next)) {
      if (entry.isSymbolicLink() || (!hidden && entry.name.startsWith(".")) || entry.name === "node_modules") continue
      const path = posix.join(next, entry.name)
      if (found.push(path) > mostInTree) return undefined
      if (entry.isDirectory()) open.push(path)
    }
  }
  return found
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
