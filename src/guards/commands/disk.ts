import { lstatSync, readdirSync, realpathSync } from "node:fs"
import { posix } from "node:path"
import { readGlob } from "../../lib/glob.ts"
import { readRegularFileBytes } from "../read-regular-file.ts"
import { isMissingFolder, isUndecodable, listTree } from "../list-tree.ts"
import type { Word } from "./shell-line.ts"

/** The disk as the command guard reads it. */
export interface Disk {
  /** The real path; undefined when nothing exists there. */
  realpath(path: string): string | undefined
  /** The names in a folder; empty when it does not exist, undefined when there are too many or it cannot be read. */
  names(folder: string): readonly string[] | undefined
  /** All folders and regular files below a folder, without links; undefined when there are too many. */
  tree(folder: string): readonly string[] | undefined
  isFile(path: string): boolean
  /** The content of a file; undefined when it does not exist. Throws when it cannot be read or is larger than `maxBytes`. */
  bytes(path: string, maxBytes: number): Buffer | undefined
}

const maxNames = 1000
const maxMatches = 300

export function openDisk(realpath?: (path: string) => string | undefined): Disk {
  return {
    realpath: realpath ?? realpathOf,
    names(folder) {
      try {
        const names = readdirSync(folder)
        return names.length > maxNames || names.some(isUndecodable) ? undefined : names
      } catch (error) {
        return isMissingFolder(error) ? [] : undefined
      }
    },
    tree: listTree,
    isFile(path) {
      try {
        return !lstatSync(path).isDirectory()
      } catch {
        // The path does not exist.
        return false
      }
    },
    bytes(path, maxBytes) {
      try {
        return readRegularFileBytes(path, { maxBytes, followLinks: true })
      } catch (error) {
        if (isMissingFolder(error)) return undefined
        throw error
      }
    },
  }
}

/** Caches real paths, so that one check sees one answer for each path. */
export function cacheRealpath(disk: Disk): Disk {
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
    // Checking first is cheaper than an exception.
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Resolves a path as a program in that folder would: `..` after a link is relative to the link's target. */
export function resolveIn(folder: string, path: string, disk: Disk): string {
  const base = disk.realpath(folder) ?? folder
  if (!path.split("/").includes("..")) return posix.resolve(base, path)
  let place = path.startsWith("/") ? "/" : base
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue
    place = step === ".." ? posix.dirname(disk.realpath(place) ?? place) : posix.join(place, step)
  }
  return place
}

/** Expands a pattern as the shell does; the pattern itself if nothing matches. Undefined when that is not certain. */
export function expandPattern({ value, glob }: Word, folder: string, disk: Disk): readonly string[] | undefined {
  if (glob === -1) return [value]
  const steps = value.split("/")
  // Patterns for hidden names mostly match files that should not be read.
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
      const names = disk.names(resolveIn(folder, place === "" ? "." : place, disk))
      if (names === undefined) return undefined
      // The matches of `?` depend on the locale of the shell.
      if (step.includes("?") && names.some((name) => /[^\0-\x7f]/.test(name))) return undefined
      const matches = nameMatcher(step)
      next.push(...names.filter(matches).map((name) => `${place}${name}/`))
      if (next.length > maxMatches) return undefined
    }
    found = next
  }
  return found.length === 0 ? [value] : found.map((path) => (path === "/" ? path : path.slice(0, -1)))
}

/** Matches in linear time, so that crafted file names cannot make it slow. */
function nameMatcher(step: string): (name: string) => boolean {
  const read = readGlob(step.replace(/[\\[\]]/g, "\\$&"), "path")
  return (name) => !name.startsWith(".") && !("mistake" in read) && read.glob.matches(name)
}
