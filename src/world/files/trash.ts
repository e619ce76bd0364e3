import { randomUUID } from "node:crypto"
import { lstatSync, rmdirSync, unlinkSync } from "node:fs"
import type { Trash, TrashItem, TrashLimits } from "../../model/files.ts"
import { carry } from "./carry.ts"
import { kindOf } from "./facts.ts"
import type { Folder } from "./folder.ts"
import { movable } from "./move.ts"
import { openOwn, type Own } from "./own.ts"
import { isThere, refused, translated } from "./refused.ts"
import { stand, type Yard } from "./stand.ts"
import { standForPerson } from "./stand-for-person.ts"
import { sizeOf, type Spot } from "./tree.ts"
import { tidyWhenDue } from "./trash-limits.ts"
import { itemsIn, noteName, thing, writeNote } from "./trash-notes.ts"

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

/** Moves a thing into the trash. The note is written first: what is in there can always be brought back. */
export async function putIn(house: TrashHouse, spot: Spot, about: Thrown): Promise<TrashItem> {
  const kind = kindOf(lstatSync(spot.folder.at(spot.name)))
  const item = { id: randomUUID(), ...about, kind, deletedAt: Date.now() }
  const trash = openOwn(house, "trash")
  try {
    writeNote(trash, item)
    const names = { from: about.path, to: about.path, overwrite: false }
    await fill(house, trash, item, (folder) => carry(house.doors, spot, { folder, name: thing }, names))
    // What cannot be removed now may be the next time; what was deleted is deleted.
    await tidyWhenDue(trash, item, house.trash).catch(() => {})
    return item
  } finally {
    trash.close()
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

async function fill(
  house: Own,
  trash: Folder,
  { id }: TrashItem,
  put: (folder: Folder) => Promise<void>,
): Promise<void> {
  const folder = openOwn(house, "trash", id)
  try {
    await put(folder)
  } catch (error) {
    forget(trash, id)
    throw error
  } finally {
    folder.close()
  }
}

function forget(trash: Folder, id: string): void {
  rmdirSync(trash.at(id))
  unlinkSync(trash.at(noteName(id)))
}

async function bringBack(house: Yard & Own, trash: Folder, item: TrashItem): Promise<void> {
  const folder = openOwn(house, "trash", item.id)
  try {
    const here =
      item.taken === undefined
        ? stand(house, item.path, { use: "write", follow: false, make: true })
        : standForPerson(house, item.path)
    try {
      if (here.name === undefined || here.found !== undefined) throw isThere(item.path)
      const goal = { folder: here.folder, name: here.name }
      await carry(house.doors, { folder, name: thing }, goal, { from: item.id, to: item.path, overwrite: false })
    } finally {
      here.folder.close()
    }
  } finally {
    folder.close()
  }
  forget(trash, item.id)
}

function chosen(items: readonly TrashItem[], id: string): TrashItem {
  const fitting = items.filter((item) => id !== "" && item.id.startsWith(id))
  if (fitting.length === 1) return fitting[0]!
  const what = fitting.length === 0 ? "Nothing in the trash has" : `${fitting.length} things in the trash have`
  throw refused("file_not_found", `${what} an id that begins with '${id}'. List the trash and give more of the id.`)
}
