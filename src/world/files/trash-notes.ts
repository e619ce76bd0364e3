import { lstatSync, readdirSync } from "node:fs"
import { z } from "zod"
import type { TrashItem } from "../../model/files.ts"
import { kindOf } from "./facts.ts"
import type { Folder } from "./folder.ts"
import { readOwn, replaceOwn } from "./own-file.ts"

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
  replaceOwn(trash, noteName(item.id), JSON.stringify(item))
}

/** Newest first. A note counts only beside the thing it tells of. */
export function itemsIn(trash: Folder): TrashItem[] {
  const items: TrashItem[] = []
  for (const name of readdirSync(trash.self)) {
    if (!name.endsWith(".json")) continue
    const note = readNote(trash, name)
    if (note !== undefined && hasThing(trash, note)) items.push(note)
  }
  return items.sort((one, other) => other.deletedAt - one.deletedAt || (one.id < other.id ? -1 : 1))
}

export const noteName = (id: string) => `${id}.json`

function hasThing(trash: Folder, { id, kind }: TrashItem): boolean {
  if (lstatSync(trash.at(id), { throwIfNoEntry: false })?.isDirectory() !== true) return false
  const found = lstatSync(trash.at(`${id}/${thing}`), { throwIfNoEntry: false })
  return found !== undefined && kindOf(found) === kind
}

function readNote(trash: Folder, name: string): TrashItem | undefined {
  try {
    const note = noteSchema.parse(JSON.parse(readOwn(trash, name) ?? ""))
    return noteName(note.id) === name ? note : undefined
  } catch {
    return undefined
  }
}
