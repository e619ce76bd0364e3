import { lstatSync, readdirSync, realpathSync, type Dirent } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { isFolderOfPairs, sealedBecause } from "../../policy/paths-lists.ts"
import { isWithin } from "./seals.ts"

/** Names that are looked at before and after a command. A folder is looked at as a whole, so it may be more. */
const mostNames = 10_000

/** What stands in the folders a command can write in, as far as it was looked at. */
export interface Listing {
  /** The names in each folder that was looked into. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>
  /** What no tool may write, each with what it is known by when it was moved. Nothing inside is looked at. */
  readonly marked: ReadonlyMap<string, string>
  /** False when there was more than is looked at. */
  readonly isWhole: boolean
}

export interface Looking {
  readonly roots: readonly string[]
  /** Looked into first, whatever else there is. */
  readonly named: readonly string[]
  isLeftOut(path: string): boolean
  isProtected(path: string, isFolder: boolean): boolean
}

/**
 * Looks level by level, so that what is deep is what is missed. Links are not followed, and packages of others are left
 * out: there are more of them than of all else.
 */
export function listNames({ roots, named, isLeftOut, isProtected }: Looking): Listing {
  const names = new Map<string, Set<string>>()
  const marked = new Map<string, string>()
  const open = [...roots, ...named]
  let count = 0
  let at = 0
  for (; at < open.length && (count < mostNames || at < roots.length + named.length); at++) {
    const folder = open[at]!
    if (names.has(folder)) continue
    const entries = entriesOf(folder)
    if (entries === undefined) continue
    count += entries.length
    names.set(folder, new Set(entries.map(({ name }) => name)))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (isLeftOut(path)) continue
      const isFolder = entry.isDirectory()
      if (isSealedName(folder, entry.name) || isProtected(path, isFolder)) marked.set(path, identityOf(path))
      else if (isFolder && entry.name !== "node_modules") open.push(path)
    }
  }
  return { names, marked, isWhole: at >= open.length }
}

/** What no tool may write and was not there before. What could not be seen before, or was moved with its folder, is left. */
export function newcomers(before: Listing, after: Listing): string[] {
  const known = new Set(before.marked.values())
  return [...after.marked]
    .filter(([path, identity]) => isNew(path, before) && !known.has(identity))
    .map(([path]) => path)
}

/** The folders below the roots that stand in a script as words, with those above them; none that is sealed as a whole. */
export function foldersNamed(command: string, cwd: string, roots: readonly string[]): string[] {
  const words = command.split(/[\s'"`;&|<>()=]+/, 200).filter((word) => word !== "")
  const found = new Set<string>()
  for (const start of [cwd, ...words.map((word) => resolve(cwd, word))]) {
    const root = roots.find((one) => isWithin(start, one))
    if (root === undefined) continue
    const steps = relative(root, start).split(sep)
    for (let count = 1; count <= steps.length; count++) {
      const path = join(root, ...steps.slice(0, count))
      if (isSealedName(dirname(path), basename(path))) break
      found.add(path)
    }
  }
  return [...found].filter(isPlainFolder)
}

/**
 * Whether nobody may make something of this name. Private keys may be made: they are sealed to be kept, and run nothing.
 * They count by the last name of a path alone, so one more name leaves them out.
 */
export function isSealedName(folder: string, name: string): boolean {
  const above = basename(folder)
  if (isFolderOfPairs(above)) return sealedBecause(`${above}/${name}/x`, "write") !== undefined
  let isSealed = sealed.get(name)
  if (isSealed === undefined) {
    if (sealed.size > 50_000) sealed.clear()
    isSealed = sealedBecause(`${name}/x`, "write") !== undefined
    sealed.set(name, isSealed)
  }
  return isSealed
}

const sealed = new Map<string, boolean>()

/** Decided by the nearest folder above it that was looked into. */
function isNew(path: string, { names }: Listing): boolean {
  for (let step = path; step !== dirname(step); step = dirname(step)) {
    const there = names.get(dirname(step))
    if (there !== undefined) return !there.has(basename(step))
  }
  return false
}

/** Of itself and its folder: what is moved alone to another folder is something new there. */
function identityOf(path: string): string {
  return [dirname(path), path]
    .map((one) => lstatSync(one, { bigint: true, throwIfNoEntry: false }))
    .map((facts) => `${facts?.dev}:${facts?.ino}:${facts?.birthtimeNs}`)
    .join("/")
}

/** Not a link, and not behind one. */
function isPlainFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory() && realpathSync(path) === path
  } catch {
    return false
  }
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}
