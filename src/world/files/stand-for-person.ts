import { lstatSync } from "node:fs"
import { basename, dirname, relative, sep } from "node:path"
import { isUnder } from "../../policy/paths-area.ts"
import type { Doors, Folder } from "./folder.ts"
import type { Own } from "./own.ts"
import { refused, refusedBy } from "./refused.ts"
import { openOrMake, type Standing, type Yard } from "./stand.ts"

/**
 * Goes to where a path leads for a person who puts something back there: what is sealed by its name is open to them. It
 * must be inside the fence and not in the data folder; folders above are made, and no link on the way is followed.
 */
export function standForPerson({ ground, doors, dataFolder }: Yard & Own, path: string): Standing {
  const place = ground.place(path)
  if (typeof place !== "string") throw refusedBy(place)
  const root = rootAbove(place, (folder) => ground.isRoot(folder))
  if (root === undefined || root === place || isUnder(place, dataFolder)) {
    throw refused("outside", `'${path}' is not in the workspace any more, so nothing is put back there. Move it by hand from the trash in the data folder.`) // prettier-ignore
  }
  const folder = openBelow(doors, root, dirname(place), openOrMake)
  const name = basename(place)
  const found = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
  return { folder, name, real: place, found }
}

/** A folder below a root, each on the way opened in the one above it and never through a link. */
export function openBelow(
  doors: Doors,
  root: string,
  path: string,
  open: (doors: Doors, above: Folder, name: string) => Folder = (_, above, name) => doors.openIn(above, name),
): Folder {
  let folder = doors.open(root)
  for (const name of relative(root, path).split(sep)) {
    if (name === "") continue
    const above = folder
    try {
      folder = open(doors, above, name)
    } finally {
      above.close()
    }
  }
  return folder
}

function rootAbove(place: string, isRoot: (folder: string) => boolean): string | undefined {
  for (let folder = place; ; folder = dirname(folder)) {
    if (isRoot(folder)) return folder
    if (folder === dirname(folder)) return undefined
  }
}
