import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { z } from "zod"
import type { TrashItem } from "../../model/files.ts"
import type { Folder } from "./folder.ts"

/** Everything that is in the trash lies under this name in a folder of its own, so that no name is a bad one. */
export const thing = "item"

const noteSchema = z.object({
  id: z.uuid(),
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "special"]),
  size: z.number(),
  deletedAt: z.number(),
  agentId: z.string(),
  taken: z.string().optional(),
})

/** What is written down beside a thing. */
export function writeNote(trash: Folder, item: TrashItem): void {
  writeFileSync(trash.at(noteName(item.id)), JSON.stringify(item), { mode: 0o600, flag: "wx" })
}

/** Newest first. A note without its thing is of a deletion that never happened. */
export function itemsIn(trash: Folder): TrashItem[] {
  const items: TrashItem[] = []
  for (const name of readdirSync(trash.self)) {
    if (!name.endsWith(".json")) continue
    const note = readNote(trash, name)
    if (note !== undefined && lstatSync(trash.at(`${note.id}/${thing}`), { throwIfNoEntry: false })) items.push(note)
  }
  return items.sort((one, other) => other.deletedAt - one.deletedAt || (one.id < other.id ? -1 : 1))
}

export const noteName = (id: string) => `${id}.json`

function readNote(trash: Folder, name: string): TrashItem | undefined {
  try {
    const note = noteSchema.parse(JSON.parse(readFileSync(trash.at(name), "utf8")))
    return noteName(note.id) === name ? note : undefined
  } catch {
    return undefined
  }
}
