import { randomBytes } from "node:crypto"
import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync, type PathLike } from "node:fs"
import type { Doors } from "./folder.ts"
import { isThere } from "./refused.ts"
import { copyTree, removeTree, type Spot } from "./tree.ts"

export interface CarryOptions {
  /** A file that has the name gives it up; a folder never does. */
  readonly overwrite: boolean
  /** As the caller wrote them. */
  readonly from: string
  readonly to: string
}

/** Gives a file, link or folder another place, also on another device. What is seen at the new place is whole. */
export async function carry(doors: Doors, from: Spot, to: Spot, options: CarryOptions): Promise<void> {
  from.folder.sure()
  to.folder.sure()
  try {
    return rename(from, to, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error
  }
  const beside = { folder: to.folder, name: `.${to.name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp` }
  try {
    await copyTree(doors, from, beside, options.from)
    rename(beside, to, options)
  } catch (error) {
    await removeTree(doors, beside)
    throw error
  }
  await removeTree(doors, from)
}

/** Where nothing may be overwritten, the name is taken only if it is free at that very moment. */
function rename(from: Spot, to: Spot, options: CarryOptions): void {
  const source = from.folder.at(from.name)
  const target = to.folder.at(to.name)
  if (options.overwrite) return renameSync(source, target)
  const found = lstatSync(source)
  if (found.isDirectory()) return renameFolder(source, target, options)
  // A second name for a link is not the same everywhere.
  if (found.isSymbolicLink()) return renameIfFree(source, target, options)
  try {
    linkSync(source, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") throw isThere(options.to)
    if (code === "EXDEV" || code === "ENOENT" || code === "ENOSPC") throw error
    // No second names on this disk, or not for a file of somebody else.
    return renameIfFree(source, target, options)
  }
  unlinkSync(source)
}

function renameIfFree(source: PathLike, target: PathLike, { to }: CarryOptions): void {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw isThere(to)
  renameSync(source, target)
}

/** An empty folder holds the name until the other one takes its place. */
function renameFolder(source: PathLike, target: PathLike, { to }: CarryOptions): void {
  try {
    mkdirSync(target, { mode: 0o700 })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? isThere(to) : error
  }
  try {
    renameSync(source, target)
  } catch (error) {
    rmdirSync(target)
    throw error
  }
}
