import { lstatSync, mkdirSync, readlinkSync, type BigIntStats } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import type { Ground } from "../../policy/paths-ground.ts"
import type { Use } from "../../policy/paths-lists.ts"
import { hiddenCareful } from "../../policy/paths.ts"
import type { Doors, Folder } from "./folder.ts"
import { refused, refusedBy } from "./refused.ts"

/** What the fence works with. */
export interface Yard {
  readonly ground: Ground
  readonly doors: Doors
}

/** Where something is or would be: a held folder that is inside the fence, and a name in it. */
export interface Standing {
  readonly folder: Folder
  /** Undefined when the folder itself is meant, which is a root. */
  readonly name: string | undefined
  readonly real: string
  /** What is there; undefined when nothing is. */
  readonly found: BigIntStats | undefined
}

export interface StandOptions {
  readonly use: Use
  /** Follows a link at the end; otherwise the link itself is meant. */
  readonly follow: boolean
  /** Makes the folders above. */
  readonly make?: boolean | undefined
}

/** Goes to where a path leads, each link at its end followed by hand and looked at. Whoever stands closes the folder. */
export function stand(yard: Yard, path: string, options: StandOptions): Standing {
  const { ground } = yard
  const named = placeNamed(ground, path, options.use)
  let place = named
  for (let links = 0; links <= mostLinks; links++) {
    const here = standAt(yard, place, path, options)
    if (typeof here === "string") place = here
    else if (isUsable(ground, named, here, path, options.use)) return here
  }
  throw unknownPlace(path)
}

/** Stands there for the time of `work`. */
export function standing<T>(yard: Yard, path: string, options: StandOptions, work: (here: Standing) => T): T {
  const here = stand(yard, path, options)
  try {
    return work(here)
  } finally {
    here.folder.close()
  }
}

/** The place a path means by its text, if anything may be done there so. */
export function placeNamed(ground: Ground, path: string, use: Use): string {
  const place = ground.place(path)
  if (typeof place !== "string") throw refusedBy(place)
  if (!ground.holds(place)) {
    // A link elsewhere may lead in here; nothing outside is opened to find out.
    const refusal = ground.refusal(ground.realpath(place) ?? place, use, path)
    if (refusal !== undefined) throw refusedBy(refusal)
  }
  const sealing = ground.sealing(place, use, path)
  if (sealing !== undefined) throw refusedBy(sealing)
  return place
}

/** A held folder that may be used so. */
export function openFolder({ ground, doors }: Yard, place: string, path: string, use: Use): Folder {
  const folder = attempt({ ground, doors }, place, path, () => doors.open(place))
  const refusal = ground.refusal(folder.real, use, path)
  if (refusal === undefined) return folder
  folder.close()
  throw refusedBy(refusal)
}

/** A link must not be another name for what a person is asked about. */
export function checkCareful(ground: Ground, named: string, real: string, path: string, use: Use): void {
  if (real === named) return
  const because = ground.careful(real, use)
  if (because !== undefined && ground.careful(named, use) === undefined)
    throw refusedBy(hiddenCareful(path, ground.shown(real), because))
}

/** A folder in a held folder, made if it is not there. */
export function openOrMake(doors: Doors, above: Folder, name: string, mode = 0o777): Folder {
  try {
    mkdirSync(above.at(name), { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  above.sure()
  return doors.openIn(above, name)
}

const mostLinks = 40

function isUsable(ground: Ground, named: string, here: Standing, path: string, use: Use): true {
  try {
    checkCareful(ground, named, here.real, path, use)
    return true
  } catch (error) {
    here.folder.close()
    throw error
  }
}

/** What is at a place, or where to go on when a link is there. */
function standAt(yard: Yard, place: string, path: string, { use, follow, make }: StandOptions): Standing | string {
  if (yard.ground.isRoot(place)) {
    const folder = openFolder(yard, place, path, use)
    return { folder, name: undefined, real: folder.real, found: lstatSync(`${folder.self}/.`, { bigint: true }) }
  }
  const above = dirname(place)
  if (make === true) checkAhead(yard.ground, place, use, path)
  const open = () => (make === true ? openMade(yard, above, path) : yard.doors.open(above))
  const folder = attempt(yard, above, path, open)
  let stays = false
  try {
    const name = basename(place)
    const real = join(folder.real, name)
    const refusal = yard.ground.refusal(real, use, path)
    if (refusal !== undefined) throw refusedBy(refusal)
    const found = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
    folder.sure()
    if (follow && found?.isSymbolicLink()) return behind(yard.ground, folder, name, path)
    stays = true
    return { folder, name, real, found }
  } finally {
    if (!stays) folder.close()
  }
}

/** Before anything is made on the way to a place, it is looked at where that way leads. */
function checkAhead(ground: Ground, place: string, use: Use, path: string): void {
  const real = ground.realpath(dirname(place))
  if (real === undefined) throw unknownPlace(path)
  const refusal = ground.refusal(join(real, basename(place)), use, path)
  if (refusal !== undefined) throw refusedBy(refusal)
}

/** What cannot be opened outside is outside, and nothing is told of what is there. */
function attempt(yard: Yard, place: string, path: string, open: () => Folder): Folder {
  try {
    return open()
  } catch (error) {
    const real = yard.ground.realpath(place)
    const refusal = real === undefined ? undefined : yard.ground.refusal(real, "read", path)
    throw refusal?.code === "outside" && !yard.ground.isRoot(place) ? refusedBy(refusal) : error
  }
}

/** Where a link leads. It is only where to look next: there everything is held and looked at again. */
function behind(ground: Ground, folder: Folder, name: string, path: string): string {
  const target = readlinkSync(folder.at(name))
  const next = ground.realpath(isAbsolute(target) ? target : `${folder.real}/${target}`)
  if (next === undefined) throw unknownPlace(path)
  const refusal = ground.refusal(next, "read", path)
  if (refusal?.code === "outside") throw refusedBy(refusal)
  return next
}

/**
 * Each folder that is missing is made in the one above it, which is held and inside the fence. A call that may use some
 * names only may still make the folders they are in.
 */
function openMade(yard: Yard, place: string, path: string): Folder {
  const { ground, doors } = yard
  try {
    return doors.open(place)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT"
    if (!isMissing || ground.isRoot(place) || dirname(place) === place) throw error
  }
  const above = openMade(yard, dirname(place), path)
  try {
    const name = basename(place)
    const refusal = ground.whole.refusal(join(above.real, name), "write", path)
    if (refusal !== undefined) throw refusedBy(refusal)
    return openOrMake(doors, above, name)
  } finally {
    above.close()
  }
}

function unknownPlace(path: string): Error {
  return refused("bad_path", `It cannot be said where the link '${path}' leads. Use the path of the file itself.`)
}
