import { randomBytes } from "node:crypto"
import { chmodSync, linkSync, lstatSync, readlinkSync, renameSync, rmdirSync, statSync, unlinkSync } from "node:fs"
import type { BigIntStats } from "node:fs"
import type { Doors, Folder } from "./folder.ts"
import { refused } from "./refused.ts"
import { openOrMake } from "./stand.ts"
import { copyFile, copyTree, namesIn, turn, type GiveFile, type Spot } from "./tree.ts"

/**
 * Makes the same tree at a name that is free, without a folder changing its place: every folder is made anew, every file
 * gets a second name there. Whoever stands in a folder of the old tree stays there. With `copies` files are copied, so that
 * nobody has them open.
 */
export function mirror(doors: Doors, from: Spot, to: Spot, path: string, copies = false): Promise<void> {
  return copyTree(doors, from, to, path, copies ? copyOrLink : linkOrCopy)
}

/**
 * Removes a tree that has been mirrored. What has come into it since is put into the mirror first, and what has further
 * names elsewhere is copied there. False when something is left of it: what could not be put there, or is made as fast as
 * it goes.
 */
export async function clear(doors: Doors, from: Spot, to: Spot, path: string): Promise<boolean> {
  for (let times = 0; times < 3; times++) if (await cleared(doors, from, to, path, 0)) return true
  return false
}

/** Gives a thing another name in its folder, in one step, so that by its own name nobody finds it any more. */
export function putAside({ folder, name }: Spot): Spot {
  const aside = `.${name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp`
  renameSync(folder.at(name), folder.at(aside))
  return { folder, name: aside }
}

/** Doors that also open folders which are ours and closed to us by their mode. */
export function opening(doors: Doors): Doors {
  return { ...doors, openIn: (folder, name) => openUp(doors.openIn(folder, name)) }
}

/** Opens a folder that is ours and closed to us by its mode. */
export function openUp(folder: Folder): Folder {
  const { mode, uid } = statSync(folder.self)
  if ((mode & 0o700) !== 0o700 && uid === process.geteuid?.()) chmodSync(folder.self, (mode & 0o7777) | 0o700)
  return folder
}

/** What is no plain file has nothing to copy. */
const copyOrLink: GiveFile = (from, to, path, found) => (found.isFile() ? copyFile : linkOrCopy)(from, to, path, found)

/** No folder can have a second name, so none comes along, whatever is put in the place of the file meanwhile. */
const linkOrCopy: GiveFile = (from, to, path, found) => {
  from.folder.sure()
  to.folder.sure()
  try {
    linkSync(from.folder.at(from.name), to.folder.at(to.name))
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException
    if (["ENOENT", "EEXIST", "ENOSPC", "EDQUOT"].includes(code)) throw error
    return copyFile(from, to, path, found)
  }
  // Some systems give the second name to what a link leads to.
  if (isSame(lstatSync(to.folder.at(to.name), { bigint: true }), found)) return
  unlinkSync(to.folder.at(to.name))
  throw refused("file_changed", `'${path}' was changed while it was moved. Try again.`)
}

async function cleared(doors: Doors, from: Spot, to: Spot, path: string, depth: number): Promise<boolean> {
  try {
    const found = lstatSync(from.folder.at(from.name), { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return true
    if (found.isDirectory()) return await clearedFolder(doors, from, to, path, depth)
    if (!hasLike(from, found, to)) await mirror(doors, from, to, path)
    from.folder.sure()
    unlinkSync(from.folder.at(from.name))
    await separate(to, path)
    return true
  } catch {
    return false
  }
}

/** A file with other names is changed by them, so it becomes one of its own. */
async function separate({ folder, name }: Spot, path: string): Promise<void> {
  const found = lstatSync(folder.at(name), { bigint: true })
  if (!found.isFile() || found.nlink === 1n) return
  const copy = { folder, name: `.${randomBytes(12).toString("hex")}.tmp` }
  await copyFile({ folder, name }, copy, path, found)
  renameSync(folder.at(copy.name), folder.at(name))
}

async function clearedFolder(doors: Doors, from: Spot, to: Spot, path: string, depth: number): Promise<boolean> {
  await turn(depth, path)
  const target = openOrMake(doors, to.folder, to.name, 0o700)
  try {
    const source = opening(doors).openIn(from.folder, from.name)
    try {
      for (const [index, name] of namesIn(source).entries()) {
        if (index % 100 === 99) await turn(depth, path)
        await cleared(doors, { folder: source, name }, { folder: target, name }, `${path}/${name}`, depth + 1)
      }
    } finally {
      source.close()
    }
  } finally {
    target.close()
  }
  rmdirSync(from.folder.at(from.name))
  return true
}

/** Whether the mirror has it: the same file, its copy, or a link that says the same. */
function hasLike(from: Spot, found: BigIntStats, to: Spot): boolean {
  const other = lstatSync(to.folder.at(to.name), { bigint: true, throwIfNoEntry: false })
  if (other === undefined) return false
  if (found.isSymbolicLink()) return other.isSymbolicLink() && textOfLink(from) === textOfLink(to)
  return isSame(other, found) || isCopy(other, found)
}

const textOfLink = ({ folder, name }: Spot) => readlinkSync(folder.at(name), "latin1")

const isSame = (one: BigIntStats, other: BigIntStats) => one.ino === other.ino && one.dev === other.dev

/** A copy has the time of what it was copied from, to the microsecond, as exactly as it can be set. */
function isCopy(one: BigIntStats, other: BigIntStats): boolean {
  return one.isFile() && other.isFile() && one.size === other.size && Math.abs(Number(one.mtimeNs - other.mtimeNs)) < 2000 // prettier-ignore
}
