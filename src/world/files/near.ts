import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { nearest } from "../../model/nearest.ts"
import { openFolder, placeNamed, type Yard } from "./stand.ts"

/** Names in the same folder that could have been meant, or, when the folder is missing, names like that folder's. */
export function namesNear(yard: Yard, path: string): string[] {
  try {
    let place = placeNamed(yard.ground, path, "read")
    while (!yard.ground.isRoot(place)) {
      const names = namesIn(yard, dirname(place), path)
      if (names !== undefined) return likely(basename(place), names, yard, dirname(place))
      place = dirname(place)
    }
    return []
  } catch {
    return []
  }
}

const most = 3
const mostNames = 20_000

function likely(wanted: string, names: readonly string[], yard: Yard, folder: string): string[] {
  const left = new Set(names.slice(0, mostNames))
  const found: string[] = []
  const take = (name: string | undefined) => {
    if (name === undefined || found.length === most) return false
    left.delete(name)
    const place = join(folder, name)
    if (name !== wanted && yard.ground.isShown(place)) found.push(yard.ground.shown(place))
    return true
  }
  const stem = stemOf(wanted)
  for (const name of left) if (stemOf(name) === stem) take(name)
  while (take(nearest(wanted, left)));
  for (const name of left) if (stem.length >= 3 && name.toLowerCase().includes(stem)) take(name)
  return found
}

/** Without its ending and in small letters: `Readme.txt` was meant by `README.md`. */
function stemOf(name: string): string {
  const dot = name.lastIndexOf(".")
  return (dot > 0 ? name.slice(0, dot) : name).toLowerCase()
}

function namesIn(yard: Yard, place: string, path: string): string[] | undefined {
  try {
    const folder = openFolder(yard, place, path, "read")
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
