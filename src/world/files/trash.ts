import { randomUUID } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs"
import { z } from "zod"
import type { Trash, TrashItem } from "../../model/files.ts"
import { carry } from "./carry.ts"
import { kindOf } from "./facts.ts"
import type { Folder } from "./folder.ts"
import { movable } from "./move.ts"
import { openOwn, type Own } from "./own.ts"
import { isThere, refused, translated } from "./refused.ts"
import { stand, type Yard } from "./stand.ts"
import { sizeOf } from "./tree.ts"

/** Everything that is in the trash lies under this name in a folder of its own, so that no name is a bad one. */
const thing = "item"

/** The note is written first: what is in the trash can always be brought back. */
export async function throwAway(house: Yard & Own, path: string, agentId: string): Promise<TrashItem> {
  const here = stand(house, path, { use: "write", follow: false })
  try {
    const spot = movable(here, path)
    const size = sizeOf(house.doors, spot)
    const { shown } = house.ground
    const item = { id: randomUUID(), path: shown(here.real), kind: kindOf(here.found!), size, deletedAt: Date.now(), agentId } // prettier-ignore
    const trash = openOwn(house, "trash")
    try {
      writeNote(trash, item)
      await fill(house, item, (folder) => carry(house.doors, spot, { folder, name: thing }, { from: path, to: path, overwrite: false })) // prettier-ignore
      return item
    } finally {
      trash.close()
    }
  } finally {
    here.folder.close()
  }
}

/** The trash of a fence, for people. */
export function trashOf(house: Yard & Own): Trash {
  return {
    async list() {
      const trash = openOwn(house, "trash")
      try {
        return itemsIn(trash)
      } finally {
        trash.close()
      }
    },
    async restore(id) {
      const trash = openOwn(house, "trash")
      try {
        const item = chosen(itemsIn(trash), id)
        await bringBack(house, trash, item)
        return item
      } catch (error) {
        throw translated(error, id)
      } finally {
        trash.close()
      }
    },
  }
}

const noteSchema = z.object({
  id: z.uuid(),
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "special"]),
  size: z.number(),
  deletedAt: z.number(),
  agentId: z.string(),
})

async function fill(house: Yard & Own, item: TrashItem, put: (folder: Folder) => Promise<void>): Promise<void> {
  const folder = openOwn(house, "trash", item.id)
  try {
    await put(folder)
  } catch (error) {
    forget(house, item)
    throw error
  } finally {
    folder.close()
  }
}

function forget(house: Own, { id }: TrashItem): void {
  const trash = openOwn(house, "trash")
  try {
    rmdirSync(trash.at(id))
    unlinkSync(trash.at(`${id}.json`))
  } finally {
    trash.close()
  }
}

async function bringBack(house: Yard & Own, trash: Folder, item: TrashItem): Promise<void> {
  const folder = openOwn(house, "trash", item.id)
  try {
    const here = stand(house, item.path, { use: "write", follow: false, make: true })
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
  rmdirSync(trash.at(item.id))
  unlinkSync(trash.at(`${item.id}.json`))
}

function writeNote(trash: Folder, item: TrashItem): void {
  writeFileSync(trash.at(`${item.id}.json`), JSON.stringify(item), { mode: 0o600, flag: "wx" })
}

/** Newest first. A note without its thing is of a deletion that never happened. */
function itemsIn(trash: Folder): TrashItem[] {
  const items: TrashItem[] = []
  for (const name of readdirSync(trash.self)) {
    if (!name.endsWith(".json")) continue
    const note = readNote(trash, name)
    if (note !== undefined && lstatSync(trash.at(`${note.id}/${thing}`), { throwIfNoEntry: false })) items.push(note)
  }
  return items.sort((one, other) => other.deletedAt - one.deletedAt || (one.id < other.id ? -1 : 1))
}

function readNote(trash: Folder, name: string): TrashItem | undefined {
  try {
    const note = noteSchema.parse(JSON.parse(readFileSync(trash.at(name), "utf8")))
    return `${note.id}.json` === name ? note : undefined
  } catch {
    return undefined
  }
}

function chosen(items: readonly TrashItem[], id: string): TrashItem {
  const fitting = items.filter((item) => id !== "" && item.id.startsWith(id))
  if (fitting.length === 1) return fitting[0]!
  const what = fitting.length === 0 ? "Nothing in the trash has" : `${fitting.length} things in the trash have`
  throw refused("file_not_found", `${what} an id that begins with '${id}'. List the trash and give more of the id.`)
}
