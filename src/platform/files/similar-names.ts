import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { nearestName } from "../../lib/nearest-name.ts"
import { openFolder, allowedAbsolutePath, type FileRoots } from "./resolve-path.ts"

/** Names in the same folder that may be meant; if the folder is missing, names similar to the folder's. */
export function similarNames(roots: FileRoots, path: string): string[] {
  try {
    let absolute = allowedAbsolutePath(roots.pathPolicy, path, "read")
    while (!roots.pathPolicy.isRoot(absolute)) {
      const names = namesIn(roots, dirname(absolute), path)
      if (names !== undefined) return likely(basename(absolute), names, roots, dirname(absolute))
      absolute = dirname(absolute)
    }
    return []
  } catch {
    return []
  }
}

const maxResults = 3
const maxNames = 20_000

function likely(wanted: string, names: readonly string[], roots: FileRoots, folder: string): string[] {
  const left = new Set(names.slice(0, maxNames))
  const found: string[] = []
  const take = (name: string | undefined) => {
    if (name === undefined || found.length === maxResults) return false
    left.delete(name)
    const absolute = join(folder, name)
    if (name !== wanted && roots.pathPolicy.isShown(absolute)) found.push(roots.pathPolicy.displayPath(absolute))
    return true
  }
  const stem = stemOf(wanted)
  for (const name of left) if (stemOf(name) === stem) take(name)
  while (take(nearestName(wanted, left)));
  for (const name of left) if (stem.length >= 3 && name.toLowerCase().includes(stem)) take(name)
  return found
}

/** The name without its extension, in lower case: `README.md` may mean `Readme.txt`. */
function stemOf(name: string): string {
  const dot = name.lastIndexOf(".")
  return (dot > 0 ? name.slice(0, dot) : name).toLowerCase()
}

function namesIn(roots: FileRoots, absolute: string, path: string): string[] | undefined {
  try {
    const folder = openFolder(roots, absolute, path, "read")
    try {
      return readdirSync(folder.self).sort()
    } finally {
      folder.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}
