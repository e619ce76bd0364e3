import { randomUUID } from "node:crypto"
import { chmodSync, lstatSync } from "node:fs"
import type { Trash, TrashItem } from "./file-access.ts"
import { renameOrCopy } from "./rename-or-copy.ts"
import { kindOf } from "./facts.ts"
import { withOwnerAccess, type FolderOpener, type FolderHandle } from "./folder-handle.ts"
import { requireMovable } from "./move.ts"
import { openInDataFolder, type DataFolderAccess } from "./data-folder.ts"
import { fileExistsFailure, fileFailure, translateSystemError } from "./file-failures.ts"
import { resolvePath, type FileRoots } from "./resolve-path.ts"
import { resolveForRestore } from "./resolve-for-restore.ts"
import { removePermanently, cleanTrashWhenDue, type TrashContext } from "./trash-limits.ts"
import { listTrashItems, trashedName, writeTrashNote } from "./trash-notes.ts"
import { treeSize, type EntryLocation } from "./folder-tree.ts"

/** A larger folder gets the size 0 until the trash is cleaned, so that deleting takes the same time for any size. */
const maxEntriesToCount = 1000

/**
 * Moves what an agent deletes into the trash. The note is written first and counts only beside its item. So even after a
 * crash the item is either where it was, or in the trash and listed.
 */
export async function moveToTrash(
  context: FileRoots & TrashContext,
  path: string,
  agentId: string,
): Promise<TrashItem> {
  const { opener, pathPolicy } = context
  const resolved = resolvePath(context, path, { use: "write", follow: false })
  try {
    const entry = requireMovable(resolved, path)
    const size = (await treeSize(opener, entry, maxEntriesToCount)) ?? 0
    const note = {
      path: pathPolicy.displayPath(resolved.real),
      kind: kindOf(resolved.found!),
      size,
      deletedAt: Date.now(),
      agentId,
    }
    return await inTrash(context, async (trash) => {
      const item = await addItem(context, trash, entry, { id: randomUUID(), ...note })
      await cleanTrashWhenDue(context, trash, item).catch(() => {})
      return item
    })
  } finally {
    resolved.folder.close()
  }
}

/** The trash of these file roots, for people. */
export function createTrash(context: FileRoots & TrashContext): Trash {
  const withTrash = async <T>(id: string, work: (trash: FolderHandle) => T | Promise<T>): Promise<T> => {
    try {
      return await inTrash(context, work)
    } catch (error) {
      throw translateSystemError(error, id)
    }
  }
  return {
    list: () => withTrash("trash", listTrashItems),
    find: (id) => withTrash(id, (trash) => findItem(listTrashItems(trash), id)),
    restore: (id) => withTrash(id, (trash) => restoreItem(context, trash, findItem(listTrashItems(trash), id))),
  }
}

async function inTrash<T>(context: DataFolderAccess, work: (trash: FolderHandle) => T | Promise<T>): Promise<T> {
  const trash = openInDataFolder(context, "trash")
  try {
    return await work(trash)
  } finally {
    trash.close()
  }
}

async function addItem(
  context: DataFolderAccess,
  trash: FolderHandle,
  entry: EntryLocation,
  item: TrashItem,
): Promise<TrashItem> {
  const { opener } = context
  const folder = openInDataFolder(context, "trash", item.id)
  const destination = { folder, name: trashedName }
  try {
    writeTrashNote(trash, item)
    await moveKeepingMode(opener, entry, destination, { from: item.path, to: "the trash", overwrite: true })
    // Another process may have replaced it with something of another kind.
    const kind = kindOf(lstatSync(folder.at(trashedName)))
    if (kind !== item.kind) writeTrashNote(trash, { ...item, kind })
    return { ...item, kind }
  } catch (error) {
    // If it was moved already, this may be the only copy.
    if (lstatSync(folder.at(trashedName), { throwIfNoEntry: false }) === undefined)
      await removePermanently(opener, trash, item.id).catch(() => {})
    throw error
  } finally {
    folder.close()
  }
}

async function restoreItem(
  context: FileRoots & DataFolderAccess,
  trash: FolderHandle,
  item: TrashItem,
): Promise<TrashItem> {
  const { opener } = context
  const { id, path, taken } = item
  const folder = opener.openIn(trash, id)
  try {
    // Items with `taken` are from earlier versions and have protected names, which no tool may write.
    const resolved = taken === undefined ? resolvePath(context, path, { use: "write", follow: false, createFolders: true }) : resolveForRestore(context, path) // prettier-ignore
    try {
      if (resolved.name === undefined || resolved.found !== undefined) throw fileExistsFailure(path)
      const destination = { folder: resolved.folder, name: resolved.name }
      await moveKeepingMode(opener, { folder, name: trashedName }, destination, {
        from: id,
        to: path,
        overwrite: false,
      })
    } finally {
      resolved.folder.close()
    }
  } finally {
    folder.close()
  }
  await removePermanently(opener, trash, id)
  return item
}

/** Moves an item and keeps its mode. A read-only folder cannot be moved, so it is made writable for the move. */
async function moveKeepingMode(
  opener: FolderOpener,
  from: EntryLocation,
  to: EntryLocation,
  names: Parameters<typeof renameOrCopy>[3],
): Promise<void> {
  const { mode } = lstatSync(from.folder.at(from.name))
  const isReadOnly = (mode & 0o170200) === 0o040000
  if (isReadOnly) withOwnerAccess(opener).openIn(from.folder, from.name).close()
  await renameOrCopy(opener, from, to, names)
  if (!isReadOnly) return
  const folder = opener.openIn(to.folder, to.name)
  try {
    chmodSync(folder.self, mode & 0o7777)
  } finally {
    folder.close()
  }
}

function findItem(items: readonly TrashItem[], id: string): TrashItem {
  const found = items.filter((item) => id !== "" && item.id.startsWith(id))
  if (found.length === 1) return found[0]!
  const what = found.length === 0 ? "No item in the trash has" : `${found.length} items in the trash have`
  throw fileFailure("file_not_found", `${what} an id that begins with '${id}'. List the trash and give more of the id.`)
}
