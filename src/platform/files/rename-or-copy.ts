import { randomBytes } from "node:crypto"
import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync, type PathLike } from "node:fs"
import type { FolderOpener } from "./folder-handle.ts"
import { fileExistsFailure } from "./file-failures.ts"
import { copyTree, removeTree, type EntryLocation } from "./folder-tree.ts"

export interface RenameOptions {
  /** Replaces a file that has the name; a folder is never replaced. */
  readonly overwrite: boolean
  /** As the caller wrote them. */
  readonly from: string
  readonly to: string
}

/** Moves a file, link or folder, also to another device. It appears at the new path complete or not at all. */
export async function renameOrCopy(
  opener: FolderOpener,
  from: EntryLocation,
  to: EntryLocation,
  options: RenameOptions,
): Promise<void> {
  from.folder.verify()
  to.folder.verify()
  try {
    return rename(from, to, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error
  }
  const temporary = { folder: to.folder, name: `.${to.name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp` }
  try {
    await copyTree(opener, from, temporary, options.from)
    rename(temporary, to, options)
  } catch (error) {
    await removeTree(opener, temporary)
    throw error
  }
  await removeTree(opener, from)
}

/** Without `overwrite`, takes the name only if it is free at that moment. */
function rename(from: EntryLocation, to: EntryLocation, options: RenameOptions): void {
  const source = from.folder.at(from.name)
  const target = to.folder.at(to.name)
  if (options.overwrite) return renameSync(source, target)
  const found = lstatSync(source)
  if (found.isDirectory()) return renameFolder(source, target, options)
  // Hard links to symbolic links differ between systems.
  if (found.isSymbolicLink()) return renameIfFree(source, target, options)
  try {
    linkSync(source, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") throw fileExistsFailure(options.to)
    if (code === "EXDEV" || code === "ENOENT" || code === "ENOSPC") throw error
    // The disk has no hard links, or the system forbids them for files of other users.
    return renameIfFree(source, target, options)
  }
  unlinkSync(source)
}

function renameIfFree(source: PathLike, target: PathLike, { to }: RenameOptions): void {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw fileExistsFailure(to)
  renameSync(source, target)
}

/** An empty folder reserves the name until the rename replaces it. */
function renameFolder(source: PathLike, target: PathLike, { to }: RenameOptions): void {
  try {
    mkdirSync(target, { mode: 0o700 })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? fileExistsFailure(to) : error
  }
  try {
    renameSync(source, target)
  } catch (error) {
    rmdirSync(target)
    throw error
  }
}
