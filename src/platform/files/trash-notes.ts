import { lstatSync, readdirSync } from "node:fs"
import { z } from "zod"
import type { TrashItem } from "./file-access.ts"
import { kindOf } from "./facts.ts"
import type { FolderHandle } from "./folder-handle.ts"
import { readDataFile, replaceDataFile } from "./data-file.ts"

/** Each deleted item gets this name in a folder of its own, so that its original name cannot cause trouble. */
export const trashedName = "item"

const noteSchema = z.object({
  id: z.uuid(),
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "special"]),
  size: z.number(),
  deletedAt: z.number(),
  agentId: z.string(),
  taken: z.string().optional(),
})

/** Writes the note beside an item. */
export function writeTrashNote(trash: FolderHandle, item: TrashItem): void {
  replaceDataFile(trash, `${item.id}.json`, JSON.stringify(item))
}

/** Newest first. A note counts only if its item is there. */
export function listTrashItems(trash: FolderHandle): TrashItem[] {
  const items = readdirSync(trash.self).flatMap((name) => (name.endsWith(".json") ? readNote(trash, name) : []))
  return items.sort((a, b) => b.deletedAt - a.deletedAt || (a.id < b.id ? -1 : 1))
}

function readNote(trash: FolderHandle, name: string): TrashItem[] {
  try {
    const note = noteSchema.parse(JSON.parse(readDataFile(trash, name) ?? ""))
    const isOwn = `${note.id}.json` === name && lstatSync(trash.at(note.id)).isDirectory()
    return isOwn && kindOf(lstatSync(trash.at(`${note.id}/${trashedName}`))) === note.kind ? [note] : []
  } catch {
    return []
  }
}
