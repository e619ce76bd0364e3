import { lstatSync, readdirSync, realpathSync, type Dirent } from "node:fs"
import { posix } from "node:path"
import { readGlob } from "../../model/glob.ts"
import { isNoFolder, isUnspeakable, treeOf } from "../tree.ts"
import type { Word } from "./line.ts"

/** What a guard asks the disk. */
export interface Disk {
  /** Where a path really leads; undefined when nothing is there. */
  realpath(path: string): string | undefined
  /** The names in a folder; empty when it is none, undefined when there are too many to look at. */
  names(folder: string): readonly string[] | undefined
  /** All folders and plain files below a folder, links left out; undefined when there are too many to look at. */
  tree(folder: string, hidden: boolean): readonly string[] | undefined
  isFile(path: string): boolean
  /** What is in a folder; empty when it is none, undefined when there is too much to look at. */
  entries(folder: string): readonly Entry[] | undefined
}

export interface Entry {
  readonly name: string
  readonly kind: "file" | "folder" | "link" | "unknown"
}

const mostNames = 1000
const mostMatches = 300

export function openDisk(realpath?: (path: string) => string | undefined): Disk {
  return {
    realpath: realpath ?? realpathOf,
    names(folder) {
      try {
        const names = readdirSync(folder)
        return names.length > mostNames || names.some(isUnspeakable) ? undefined : names
      } catch (error) {
        return isNoFolder(error) ? [] : undefined
      }
    },
    tree: treeOf,
    entries(folder) {
      try {
        const found = readdirSync(folder, { withFileTypes: true })
        if (found.length > mostNames || found.some(({ name }) => isUnspeakable(name))) return undefined
        return found.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      } catch (error) {
        return isNoFolder(error) ? [] : undefined
      }
    },
    isFile(path) {
      try {
        return !lstatSync(path).isDirectory()
      } catch {
        // Nothing is there, or a file is where a folder should be.
        return false
      }
    },
  }
}

function kindOf(entry: Dirent): Entry["kind"] {
  if (entry.isFile()) return "file"
  return entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "unknown"
}

/** The same disk for one look: what it said once, it says again. */
export function remembering(disk: Disk): Disk {
  const known = new Map<string, string | undefined>()
  return {
    ...disk,
    realpath(path) {
      if (known.has(path)) return known.get(path)
      const real = disk.realpath(path)
      known.set(path, real)
      return real
    },
  }
}

function realpathOf(path: string): string | undefined {
  try {
    // To ask first is cheaper than an error.
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** A path as a program that runs in a folder would open it: `..` behind a link leads to where the link leads. */
export function placeIn(folder: string, path: string, disk: Disk): string {
  const base = disk.realpath(folder) ?? folder
  if (!path.split("/").includes("..")) return posix.resolve(base, path)
  let place = path.startsWith("/") ? "/" : base
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue
    place = step === ".." ? posix.dirname(disk.realpath(place) ?? place) : posix.join(place, step)
  }
  return place
}

/** The words the shell makes of a pattern, or the pattern itself if nothing fits; undefined when nobody should tell. */
export function expand({ value, glob }: Word, folder: string, disk: Disk): readonly string[] | undefined {
  if (glob === -1) return [value]
  const steps = value.split("/")
  // A pattern for names that begin with a dot is mostly one for what should not be read.
  if (steps.some((step) => /^\.[^/]*[*?]/.test(step))) return undefined
  let found: readonly string[] = [value.startsWith("/") ? "/" : ""]
  for (const step of steps) {
    if (step === "") continue
    const next: string[] = []
    for (const place of found) {
      if (!/[*?]/.test(step)) {
        next.push(`${place}${step}/`)
        continue
      }
      const names = disk.names(placeIn(folder, place === "" ? "." : place, disk))
      if (names === undefined) return undefined
      // What one `?` stands for depends on the language of the shell.
      if (step.includes("?") && names.some((name) => /[^\0-\x7f]/.test(name))) return undefined
      const fits = fitting(step)
      next.push(...names.filter(fits).map((name) => `${place}${name}/`))
      if (next.length > mostMatches) return undefined
    }
    found = next
  }
  return found.length === 0 ? [value] : found.map((path) => (path === "/" ? path : path.slice(0, -1)))
}

/** In a time that grows with the lengths only: whoever chooses names must not choose how long it takes. */
function fitting(step: string): (name: string) => boolean {
  const read = readGlob(step.replace(/[\\[\]]/g, "\\$&"), "path")
  return (name) => !name.startsWith(".") && !("mistake" in read) && read.glob.matches(name)
}

/** Whether git would show what is outside the workspace, because the repository begins above it. */
function isBelowRepository(workspace: string, disk: Disk): boolean {
  for (let place = workspace; place !== "/";) {
    place = posix.dirname(place)
    if (disk.realpath(posix.join(place, ".git")) !== undefined) return true
  }
  return false
}

/** Whether git would find settings between a folder and the workspace that somebody could have put there. */
export function hasOddRepository(folder: string, workspace: string, disk: Disk): boolean {
  let place = disk.realpath(folder)
  // Where there is no such folder, `cd` fails and nothing runs in it.
  if (place === undefined) return false
  for (;;) {
    const names = new Set(disk.names(place)?.map((name) => name.toLowerCase()))
    // With it a folder may be a repository itself; the rest of one can be elsewhere.
    if (names.has("head")) return true
    if (place === workspace) return !names.has(".git") && isBelowRepository(workspace, disk)
    if (names.has(".git") || place.length <= workspace.length) return true
    place = posix.dirname(place)
  }
}
