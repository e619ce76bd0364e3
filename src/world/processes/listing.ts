import { lstatSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { isFolderOfPairs, sealedBecause } from "../../policy/paths-lists.ts"
import { ownIdentity } from "./identity.ts"
import { kindsIn, type Kind } from "./kinds.ts"
import { isChanged, linkBefore, readLinks, type KnownLinks } from "./links.ts"
import { isRepositoryPart, looksLikeRepository, runningNames, runsInRepository } from "./repository-names.ts"
import { isWithin } from "./seals.ts"

/** Names that are looked at before a command. A folder is looked at as a whole, so it may be more. */
const mostNames = 10_000
/** The same for what a command has made: it must be more work to hide something in than to find it. */
const mostMade = 200_000

/** What stands in the folders a command can write in, as far as it was looked at. */
export interface Listing {
  /** The names in each folder that was looked into. */
  readonly names: ReadonlyMap<string, ReadonlyMap<string, Kind>>
  /** What no tool may write, each with what it is known by when it was moved. Nothing inside is looked at. */
  readonly marked: ReadonlyMap<string, string>
  /** The same for what git runs from in each `.git` among them, whether it is there or not. */
  readonly parts: ReadonlyMap<string, string>
  /** Folders that git takes for a repository though they have another name; looked into like any other. */
  readonly repositories: ReadonlyMap<string, string>
  /** Links among what is marked and its parts. */
  readonly links: KnownLinks
  /** Where such a link was before and is not, or leads elsewhere. */
  readonly changed: ReadonlySet<string>
  /** False when there was more than is looked at. */
  readonly isWhole: boolean
}

export interface Looking {
  readonly roots: readonly string[]
  /** Looked into first, whatever else there is. */
  readonly named: readonly string[]
  /** How many names are looked at, besides those that are in any case; what is usual when it does not say. */
  readonly most?: number | undefined
  isLeftOut(path: string): boolean
  isProtected(path: string, isFolder: boolean): boolean
}

/**
 * Looks level by level, so that what is deep is what is missed. Links are not followed, and packages of others are left
 * out: there are more of them than of all else. With what was there `before`, all of that is looked at again, and what is
 * new; nothing could be said of anything else.
 */
export function listNames(looking: Looking, before?: Listing): Listing {
  const { roots, named, isLeftOut, isProtected, most = before === undefined ? mostNames : mostMade } = looking
  const names = new Map<string, Map<string, Kind>>()
  const marked = new Map<string, string>()
  const repositories = new Map<string, string>()
  const parts = new Map<string, string>()
  const open = [...roots, ...named]
  const sure = new Set(open)
  let count = 0
  let isWhole = true
  for (const folder of open) {
    if (names.has(folder)) continue
    const isOld = before?.names.has(folder) === true
    if (count >= most && !isOld && !sure.has(folder)) {
      isWhole = false
      continue
    }
    const kinds = kindsIn(folder, before !== undefined)
    if (kinds === undefined) continue
    if (!isOld) count += kinds.size
    names.set(folder, kinds)
    const isRepository = looksLikeRepository(kinds.keys())
    if (isRepository) repositories.set(folder, ownIdentity(folder))
    const inside = folder.endsWith(sep) ? folder : folder + sep
    for (const [name, kind] of kinds) {
      const path = inside + name
      if (isLeftOut(path)) continue
      const isFolder = kind === "folder"
      const isMarked = isSealedName(folder, name) || (isRepository && runsInRepository(name))
      if (isMarked || isProtected(path, isFolder)) {
        marked.set(path, identityOf(path))
        if (name === ".git" && isFolder) for (const one of runningNames) parts.set(join(path, one), identityOf(join(path, one))) // prettier-ignore
      } else if (isFolder && name !== "node_modules" && (before === undefined || before.names.has(path) || isNew(path, kind, before))) open.push(path) // prettier-ignore
    }
  }
  const linkable = [...marked.keys(), ...parts.keys()]
  const changed = before === undefined ? new Set<string>() : changedOf(before.links, linkable, names, looking)
  return { names, marked, parts, repositories, links: readLinks(linkable, roots), changed, isWhole }
}

/**
 * What no tool may write and was not there before. What could not be seen before, or was moved with its folder, is left. Of
 * a folder that was there and has become a repository, what has made it one. Where a link was, what is there instead.
 */
export function newcomers(before: Listing, after: Listing): string[] {
  // A `.git` by another name is a repository that was moved.
  const moved = [...before.marked.values()].map((identity) => identity.slice(identity.lastIndexOf("/") + 1))
  const known = new Set([
    ...before.marked.values(),
    ...before.parts.values(),
    ...moved,
    ...before.repositories.values(),
  ])
  const isNewNow = (path: string) => isNew(path, after.names.get(dirname(path))?.get(basename(path)), before)
  const unknown = (found: ReadonlyMap<string, string>) => [...found].flatMap(([path, identity]) => (known.has(identity) ? [] : [path])) // prettier-ignore
  const made = [
    ...after.changed,
    ...unknown(after.marked).filter((path) => isNewNow(path) && linkBefore(before.links, path) === undefined),
    ...unknown(after.repositories).flatMap((path) => (isNewNow(path) ? [path] : newParts(path, before, after))),
  ]
  return [...new Set(made)]
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

/**
 * Decided by the nearest folder above it that was looked into. Below what was a folder and was not looked into nothing can
 * be said; below what was none all is new. Of a link only the very same one is what was there, which its identity tells.
 */
function isNew(path: string, kind: Kind | undefined, { names }: Listing): boolean {
  for (let step = path; step !== dirname(step); step = dirname(step)) {
    const there = names.get(dirname(step))
    if (there === undefined) continue
    const was = there.get(basename(step))
    return step === path ? was !== kind || was === "link" : was !== "folder"
  }
  return false
}

/** A link that was above something protected is no longer marked when a folder is in its place. */
function changedOf(
  links: KnownLinks,
  linkable: readonly string[],
  names: Listing["names"],
  { roots, isLeftOut }: Looking,
): Set<string> {
  // prettier-ignore
  const old = [...links.values()].flatMap(({ path }) => (names.get(dirname(path))?.has(basename(path)) ? [path] : []))
  return new Set([...linkable, ...old].filter((path) => !isLeftOut(path) && isChanged(links, path, roots)))
}

function newParts(folder: string, before: Listing, after: Listing): string[] {
  const was = before.names.get(folder)
  if (was === undefined || before.repositories.has(folder)) return []
  const names = [...(after.names.get(folder)?.keys() ?? [])]
  return names.filter((name) => isRepositoryPart(name) && !was.has(name)).map((name) => join(folder, name))
}

/** Of itself, its name and its folder: what is moved alone to another folder or name is something new there. */
const identityOf = (path: string) => `${ownIdentity(dirname(path))}/${basename(path)}/${ownIdentity(path)}`

/** Not a link, and not behind one. */
function isPlainFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory() && realpathSync(path) === path
  } catch {
    return false
  }
}
