import { lstatSync, openSync, closeSync, constants, fstatSync } from "node:fs"
import type { FileFacts } from "../../model/files.ts"
import { isUnder } from "../../policy/paths-area.ts"
import { keepBackup } from "./backups.ts"
import { carry } from "./carry.ts"
import { factsOf } from "./facts.ts"
import { isThere, notFound, refused, specialFile } from "./refused.ts"
import { stand, type Standing } from "./stand.ts"
import type { Spot } from "./tree.ts"
import type { WriteHouse } from "./write.ts"

/** Moves a file, link or folder to a name that is free, or with `overwrite` over a file, of which a copy is kept. */
export async function move(house: WriteHouse, from: string, to: string, overwrite: boolean): Promise<FileFacts> {
  const source = stand(house, from, { use: "write", follow: false })
  try {
    const spot = movable(source, from)
    const target = stand(house, to, { use: "write", follow: false, make: true })
    try {
      const goal = goalOf(house, source, target, { from, to, overwrite })
      if (goal !== "there already") await carry(house.doors, spot, goal.spot, { from, to, overwrite: goal.overwrite })
      const found = lstatSync(target.folder.at(target.name!), { bigint: true })
      return factsOf(found, target.real, house.ground.shown(target.real))
    } finally {
      target.folder.close()
    }
  } finally {
    source.folder.close()
  }
}

/** What may be taken away from where it is: no root, nothing special. */
export function movable({ folder, name, found }: Standing, path: string): Spot {
  if (name === undefined)
    throw refused("sealed", `'${path}' is what the fence stands around; it stays where it is. Name something in it.`)
  if (found === undefined) throw notFound(path)
  if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink()) throw specialFile(path)
  return { folder, name }
}

function goalOf(
  house: WriteHouse,
  source: Standing,
  { folder, name, real, found }: Standing,
  { from, to, overwrite }: { from: string; to: string; overwrite: boolean },
): { spot: Spot; overwrite: boolean } | "there already" {
  if (name === undefined) throw isThere(to)
  if (real === source.real) return "there already"
  if (source.found?.isDirectory() && isUnder(real, source.real))
    throw refused("bad_path", `'${to}' is inside '${from}', so it cannot be moved there. Choose another place.`)
  const spot = { folder, name }
  if (found === undefined) return { spot, overwrite }
  const isSame = found.ino === source.found?.ino && found.dev === source.found.dev
  // On a disk where letter case makes no difference, this is how it is changed.
  if (isSame && real.toLowerCase() === source.real.toLowerCase()) return { spot, overwrite: true }
  if (!overwrite) throw isThere(to)
  if (found.isDirectory() || source.found?.isDirectory())
    throw refused("exists", `'${to}' exists already, and folders are not overwritten. Delete it first, or choose another name.`) // prettier-ignore
  if (found.isFile()) keepCopy(house, spot, real)
  return { spot, overwrite }
}

function keepCopy(house: WriteHouse, { folder, name }: Spot, real: string): void {
  if (house.backups <= 0) return
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const descriptor = openSync(folder.at(name), flags)
  try {
    if (fstatSync(descriptor).isFile()) keepBackup(house, real, descriptor, house.backups)
  } finally {
    closeSync(descriptor)
  }
}
