import { lstatSync } from "node:fs"
import { defaultTrashLimits, type TrashItem, type TrashLimits } from "./file-access.ts"
import { withOwnerAccess, type FolderOpener, type FolderHandle } from "./folder-handle.ts"
import type { DataFolderAccess } from "./data-folder.ts"
import { listTrashItems, trashedName, writeTrashNote } from "./trash-notes.ts"
import { entryNames, removeTree, treeSize } from "./folder-tree.ts"

const day = 24 * 60 * 60 * 1000
const hour = 60 * 60 * 1000
/** Even the smallest file takes one block of the disk. */
const blockSize = 4096

/** The time at which this process last cleaned the trash, and the bytes it has added since. */
export interface LastCleanup {
  at: number
  bytes: number
}

/** The folder of the trash, and its limits. */
export interface TrashContext extends DataFolderAccess {
  readonly trashLimits?: TrashLimits
  readonly lastCleanup: LastCleanup
}

/**
 * Removes what exceeds the limits, for good. Runs once an hour, or when a sixteenth of the size limit was added, because
 * it has to read the whole trash. `kept` was added just now and stays.
 */
export async function cleanTrashWhenDue(context: TrashContext, trash: FolderHandle, kept: TrashItem): Promise<void> {
  const { opener, lastCleanup: last, trashLimits: limits = defaultTrashLimits } = context
  const maxBytes = limits.maxMb * 1024 * 1024
  last.bytes += diskSize(kept)
  if (last.bytes < maxBytes / 16 && Date.now() - last.at < hour) return
  // An item above the limit on its own is removed when the next one is added.
  Object.assign(last, { at: Date.now(), bytes: diskSize(kept) > maxBytes ? maxBytes : 0 })
  const items: TrashItem[] = []
  for (const item of listTrashItems(trash)) items.push(item.id === kept.id ? item : await withSize(opener, trash, item))
  const left = entryNames(trash).filter((name) => isLeftover(trash, name))
  for (const name of [...itemsToRemove(items, kept.id, limits).map(({ id }) => id), ...left]) {
    // If one cannot be removed, the others still are.
    await removePermanently(opener, trash, name).catch(() => {})
  }
}

/**
 * The items to remove for good. `items` are newest first. An item above the size limit on its own is removed and does
 * not push out others.
 */
export function itemsToRemove(
  items: readonly TrashItem[],
  kept: string,
  { days, maxMb }: TrashLimits,
  now = Date.now(),
): TrashItem[] {
  const maxBytes = maxMb * 1024 * 1024
  const last = items.find(({ id }) => id === kept)
  let room = last === undefined || diskSize(last) > maxBytes ? maxBytes : maxBytes - diskSize(last)
  let isFull = false
  return items.filter((item) => {
    if (item.id === kept) return false
    if (item.deletedAt < now - days * day || diskSize(item) > maxBytes) return true
    isFull ||= diskSize(item) > room
    if (!isFull) room -= diskSize(item)
    return isFull
  })
}

/** Removes the note first, so that an item that could only be removed in part is no longer listed. */
export async function removePermanently(opener: FolderOpener, trash: FolderHandle, id: string): Promise<void> {
  for (const name of [`${id}.json`, id]) await removeTree(withOwnerAccess(opener), { folder: trash, name })
}

const diskSize = ({ size }: TrashItem) => Math.max(size, blockSize)

/** Counts a folder that was too large to count when it was deleted. */
async function withSize(opener: FolderOpener, trash: FolderHandle, item: TrashItem): Promise<TrashItem> {
  if (item.kind !== "folder" || item.size > 0) return item
  const size = (await treeSize(opener, { folder: trash, name: item.id })) ?? 0
  if (size > 0) writeTrashNote(trash, { ...item, size })
  return { ...item, size }
}

/**
 * A note without an item, or an item without a note, was left by a process that ended in between. One younger than a day
 * may belong to a process that is still at work.
 */
function isLeftover(trash: FolderHandle, name: string): boolean {
  const statOf = (entry: string) => lstatSync(trash.at(entry), { throwIfNoEntry: false })
  const counterpart = name.endsWith(".json") ? `${name.slice(0, -".json".length)}/${trashedName}` : `${name}.json`
  const found = statOf(name)
  return found !== undefined && found.mtimeMs < Date.now() - day && statOf(counterpart) === undefined
}
