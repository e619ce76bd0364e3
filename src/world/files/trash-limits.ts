import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { z } from "zod"
import { usualTrash, type TrashItem, type TrashLimits } from "../../model/files.ts"
import type { Folder } from "./folder.ts"
import { itemsIn, noteName } from "./trash-notes.ts"

const day = 24 * 60 * 60 * 1000

/** When the trash was last tidied, and how much has been put in since. */
const mark = "tidied.json"
const hour = 60 * 60 * 1000
/** Also the smallest thing takes up as much of a disk. */
const least = 4096

/**
 * Tidies the trash, of which `kept` was put in just now. All of it must be read for that, so it is done when an hour is
 * over or a sixteenth of what it may hold has come in.
 */
export async function tidyWhenDue(trash: Folder, kept: TrashItem, limits: TrashLimits = usualTrash): Promise<void> {
  const most = limits.maxMb * 1024 * 1024
  const last = readMark(trash)
  const bytes = last.bytes + sizeOf(kept)
  if (bytes < most / 16 && Date.now() - last.at < hour) return writeMark(trash, { ...last, bytes })
  await tidy(trash, kept.id, limits)
  // What is too large alone goes with the next one.
  writeMark(trash, { at: Date.now(), bytes: sizeOf(kept) > most ? most : 0 })
}

/** Removes for good what has been there for too long, then the oldest until the rest is not too large; never `kept`. */
async function tidy(trash: Folder, kept: string, limits: TrashLimits): Promise<void> {
  for (const { id } of tooMany(itemsIn(trash), kept, limits)) await removeForGood(trash, id)
  // A thing without a note is what was left of one that was being removed.
  const things = readdirSync(trash.self).filter((name) => !name.endsWith(".json"))
  for (const id of things.filter((name) => !isThere(trash.at(noteName(name))))) await removeForGood(trash, id)
}

/** Those that have to go; `items` are in order, newest first. */
export function tooMany(
  items: readonly TrashItem[],
  kept: string,
  { days, maxMb }: TrashLimits,
  now = Date.now(),
): TrashItem[] {
  const last = items.find(({ id }) => id === kept)
  let room = maxMb * 1024 * 1024 - (last === undefined ? 0 : sizeOf(last))
  let isFull = false
  return items.filter((item) => {
    if (item.id === kept) return false
    isFull ||= sizeOf(item) > room
    if (isFull || item.deletedAt < now - days * day) return true
    room -= sizeOf(item)
    return false
  })
}

const sizeOf = ({ size }: TrashItem) => Math.max(size, least)

const markSchema = z.object({ at: z.number(), bytes: z.number() })

function readMark(trash: Folder): z.infer<typeof markSchema> {
  try {
    return markSchema.parse(JSON.parse(readFileSync(trash.at(mark), "utf8")))
  } catch {
    return { at: 0, bytes: 0 }
  }
}

function writeMark(trash: Folder, { at, bytes }: { at: number; bytes: number }): void {
  writeFileSync(trash.at(mark), JSON.stringify({ at, bytes }), { mode: 0o600 })
}

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** The note goes first: what is left of a thing that could not be removed whole is not offered to anybody. */
async function removeForGood(trash: Folder, id: string): Promise<void> {
  await rm(trash.at(noteName(id)), { force: true })
  await rm(trash.at(id), { recursive: true, force: true })
}
