import { randomUUID } from "node:crypto"
import { chmodSync, lstatSync } from "node:fs"
import type { Trash, TrashItem, TrashLimits } from "../../model/files.ts"
import { carry } from "./carry.ts"
import { kindOf } from "./facts.ts"
import type { Doors, Folder } from "./folder.ts"
import { movable } from "./move.ts"
import { clear, mirror, opening, openUp, putAside } from "./move-out.ts"
import { openOwn, type Own } from "./own.ts"
import { isThere, refused, translated } from "./refused.ts"
import { stand, type Yard } from "./stand.ts"
import { standForPerson } from "./stand-for-person.ts"
import { sizeOf, type Spot } from "./tree.ts"
import { removeForGood, tidyWhenDue } from "./trash-limits.ts"
import { itemsIn, thing, writeNote } from "./trash-notes.ts"

/** Where the trash is, and how much of it is kept. */
export interface TrashHouse extends Own {
  readonly trash?: TrashLimits | undefined
}

/** What is known of a thing that goes into the trash. */
export type Thrown = Pick<TrashItem, "path" | "size" | "agentId" | "taken">

/** Moves what an agent deletes into the trash. */
export async function throwAway(house: Yard & TrashHouse, path: string, agentId: string): Promise<TrashItem> {
  const here = stand(house, path, { use: "write", follow: false })
  try {
    const spot = movable(here, path)
    const size = sizeOf(house.doors, spot)
    return await putIn(house, spot, { path: house.ground.shown(here.real), size, agentId })
  } finally {
    here.folder.close()
  }
}

/**
 * Moves a thing into the trash. Nobody who stands in a folder of it comes along: see `mirror`. First all of it is there,
 * then the note, and only then it goes from where it was, so that nothing is lost wherever this ends. What was taken away
 * from a command goes from its name in any case: where it cannot be put in, it is left beside, and `Aside` says so.
 */
export async function putIn(house: TrashHouse, spot: Spot, about: Thrown): Promise<TrashItem> {
  spot.folder.sure()
  const trash = openOwn(house, "trash")
  try {
    const item = await exchanged(house, trash, spot, about)
    // What cannot be removed now may be the next time; what was deleted is deleted.
    await tidyWhenDue(house.doors, trash, item, house.trash).catch(() => {})
    return item
  } finally {
    trash.close()
  }
}

/** What was taken away, and could not be put into the trash whole. */
export class Aside extends Error {
  /** The name that the rest has in its folder now. */
  readonly asideName: string

  constructor(asideName: string, cause?: unknown) {
    super(`It could not be put into the trash whole, and what is left is '${asideName}'.`, { cause })
    this.asideName = asideName
  }
}

/** The trash of a fence, for people. */
export function trashOf(house: Yard & TrashHouse): Trash {
  const withTrash = async <T>(id: string, work: (trash: Folder) => T | Promise<T>): Promise<T> => {
    const trash = openOwn(house, "trash")
    try {
      return await work(trash)
    } catch (error) {
      throw translated(error, id)
    } finally {
      trash.close()
    }
  }
  return {
    list: () => withTrash("trash", itemsIn),
    find: (id) => withTrash(id, (trash) => chosen(itemsIn(trash), id)),
    restore: (id) =>
      withTrash(id, async (trash) => {
        const item = chosen(itemsIn(trash), id)
        await bringBack(house, trash, item)
        return item
      }),
  }
}

async function exchanged(house: TrashHouse, trash: Folder, spot: Spot, about: Thrown): Promise<TrashItem> {
  const { doors } = house
  const id = randomUUID()
  const folder = openOwn(house, "trash", id)
  try {
    const goal = { folder, name: thing }
    const { item, aside } = await kept(house, trash, { spot, goal, id, about })
    if (await clear(doors, aside, goal, about.path)) return item
    if (about.taken !== undefined) throw new Aside(aside.name)
    await carry(doors, aside, spot, { from: aside.name, to: about.path, overwrite: false })
    throw refused("file_changed", `Not all of '${about.path}' could be removed: it was changed meanwhile, or its rights do not let Quartermaster do that. What was in it is in the trash, what is left is where it was. Look at it, and delete it again.`) // prettier-ignore
  } finally {
    folder.close()
  }
}

interface Exchange {
  readonly spot: Spot
  readonly goal: Spot
  readonly id: string
  readonly about: Thrown
}

/** All of it in the trash, with its note, and out of the way; or nothing of it in the trash. */
async function kept(
  { doors }: Own,
  trash: Folder,
  { spot, goal, id, about }: Exchange,
): Promise<{ item: TrashItem; aside: Spot }> {
  const isTaken = about.taken !== undefined
  if (isTaken) openUp(spot.folder)
  try {
    await mirror(isTaken ? opening(doors) : doors, spot, goal, about.path, isTaken)
    const kind = kindOf(lstatSync(goal.folder.at(goal.name)))
    // What was closed before can be counted now.
    const size = isTaken ? sizeOf(doors, goal) : about.size
    const item = { id, ...about, size, kind, deletedAt: Date.now() }
    writeNote(trash, item)
    return { item, aside: putAside(spot) }
  } catch (error) {
    const failure = isTaken ? leftAside(spot, error) : error
    await removeForGood(doors, trash, id).catch(() => {})
    throw failure
  }
}

function leftAside(spot: Spot, cause: unknown): unknown {
  try {
    return new Aside(putAside(spot).name, cause)
  } catch {
    return cause
  }
}

async function bringBack(house: Yard & Own, trash: Folder, item: TrashItem): Promise<void> {
  const folder = house.doors.openIn(trash, item.id)
  try {
    const here =
      item.taken === undefined
        ? stand(house, item.path, { use: "write", follow: false, make: true })
        : standForPerson(house, item.path)
    try {
      if (here.name === undefined || here.found !== undefined) throw isThere(item.path)
      const goal = { folder: here.folder, name: here.name }
      const names = { from: item.id, to: item.path, overwrite: false }
      await asWritable(house.doors, { folder, name: thing }, goal, (spot) => carry(house.doors, spot, goal, names))
    } finally {
      here.folder.close()
    }
  } finally {
    folder.close()
  }
  await removeForGood(house.doors, trash, item.id)
}

/** Only a folder that may be written in can be given another place; there it is as it was. */
async function asWritable(doors: Doors, spot: Spot, goal: Spot, work: (spot: Spot) => Promise<void>): Promise<void> {
  const found = lstatSync(spot.folder.at(spot.name))
  const isClosed = found.isDirectory() && (found.mode & 0o200) === 0
  if (isClosed) opening(doors).openIn(spot.folder, spot.name).close()
  await work(spot)
  if (!isClosed) return
  const folder = doors.openIn(goal.folder, goal.name)
  try {
    chmodSync(folder.self, found.mode & 0o7777)
  } finally {
    folder.close()
  }
}

function chosen(items: readonly TrashItem[], id: string): TrashItem {
  const fitting = items.filter((item) => id !== "" && item.id.startsWith(id))
  if (fitting.length === 1) return fitting[0]!
  const what = fitting.length === 0 ? "Nothing in the trash has" : `${fitting.length} things in the trash have`
  throw refused("file_not_found", `${what} an id that begins with '${id}'. List the trash and give more of the id.`)
}
