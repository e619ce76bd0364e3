import { lstatSync } from "node:fs"
import { z } from "zod"
import { usualTrash, type TrashItem, type TrashLimits } from "../../model/files.ts"
import type { Doors, Folder } from "./folder.ts"
import { opening } from "./move-out.ts"
import { readOwn, replaceOwn } from "./own-file.ts"
import { namesIn, removeTree } from "./tree.ts"
import { itemsIn, noteName, thing } from "./trash-notes.ts"

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
export async function tidyWhenDue(
  doors: Doors,
  trash: Folder,
  kept: TrashItem,
  limits: TrashLimits = usualTrash,
): Promise<void> {
  const most = mostOf(kept, limits)
  const last = readMark(trash)
  const bytes = last.bytes + sizeOf(kept)
  if (bytes < most / 16 && Date.now() - last.at < hour) return writeMark(trash, { ...last, bytes })
  await tidy(doors, trash, kept.id, limits)
  // What is too large alone goes with the next one.
  writeMark(trash, { at: Date.now(), bytes: sizeOf(kept) > most ? most : 0 })
}

/** Removes for good what has been there for too long, then the oldest until the rest is not too large; never `kept`. */
async function tidy(doors: Doors, trash: Folder, kept: string, limits: TrashLimits): Promise<void> {
  const gone = tooMany(itemsIn(trash), kept, limits).map(({ id }) => id)
  const left = namesIn(trash).filter((name) => name !== mark && isLeftover(trash, name))
  for (const name of [...gone, ...left]) {
    // One that cannot be removed does not keep the others.
    await removeForGood(doors, trash, name).catch(() => {})
  }
}

/**
 * A note without a thing and a thing without a note were left by a process that ended in between. A young one may be of a
 * process that is still about it.
 */
function isLeftover(trash: Folder, name: string): boolean {
  const other = name.endsWith(".json") ? `${name.slice(0, -".json".length)}/${thing}` : noteName(name)
  const found = lookAt(trash, name)
  return found !== undefined && found.mtimeMs < Date.now() - day && lookAt(trash, other) === undefined
}

const lookAt = (trash: Folder, name: string) => lstatSync(trash.at(name), { throwIfNoEntry: false })

/** Those that have to go; `items` are in order, newest first. What was taken away drives out nothing that was deleted. */
export function tooMany(items: readonly TrashItem[], kept: string, limits: TrashLimits, now = Date.now()): TrashItem[] {
  const oldest = now - limits.days * day
  const shares = [items.filter(({ taken }) => taken === undefined), items.filter(({ taken }) => taken !== undefined)]
  return shares.flatMap((share) => tooManyOf(share, kept, oldest, share.length === 0 ? 0 : mostOf(share[0]!, limits)))
}

/** Of one share. What is larger than all of it drives out nothing, and goes itself. */
function tooManyOf(items: readonly TrashItem[], kept: string, oldest: number, most: number): TrashItem[] {
  const last = items.find(({ id }) => id === kept)
  let room = last === undefined || sizeOf(last) > most ? most : most - sizeOf(last)
  let isFull = false
  return items.filter((item) => {
    if (item.id === kept) return false
    if (item.deletedAt < oldest || sizeOf(item) > most) return true
    isFull ||= sizeOf(item) > room
    if (!isFull) room -= sizeOf(item)
    return isFull
  })
}

/** What was taken away has a quarter of it besides. */
function mostOf({ taken }: TrashItem, { maxMb }: TrashLimits): number {
  return maxMb * 1024 * 1024 * (taken === undefined ? 1 : 1 / 4)
}

const sizeOf = ({ size }: TrashItem) => Math.max(size, least)

const markSchema = z.object({ at: z.number(), bytes: z.number() })

function readMark(trash: Folder): z.infer<typeof markSchema> {
  try {
    return markSchema.parse(JSON.parse(readOwn(trash, mark) ?? ""))
  } catch {
    return { at: 0, bytes: 0 }
  }
}

function writeMark(trash: Folder, { at, bytes }: { at: number; bytes: number }): void {
  replaceOwn(trash, mark, JSON.stringify({ at, bytes }))
}

/** The note goes first: what is left of a thing that could not be removed whole is not offered to anybody. */
export async function removeForGood(doors: Doors, trash: Folder, id: string): Promise<void> {
  for (const name of [noteName(id), id]) await removeTree(opening(doors), { folder: trash, name })
}
