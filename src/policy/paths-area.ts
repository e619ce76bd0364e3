import { resolve, sep } from "node:path"
import { readGlob, type Glob } from "../model/glob.ts"

/** Whether a place is the folder or in it. */
export function isUnder(place: string, folder: string): boolean {
  if (!place.startsWith(folder)) return false
  return place.length === folder.length || folder.endsWith(sep) || place[folder.length] === sep
}

/** A line of `allowedPaths`, ready for use. */
export interface Area {
  readonly source: string
  /** The folder it is, where it is no glob. */
  readonly folder: string | undefined
  readonly widens: boolean
  has(place: string): boolean
}

/**
 * What is in the workspace by its text stays there: a link that an agent could have put in its place leads nowhere. What
 * is outside was written by a person, and is meant where it really is.
 */
export function readArea(
  { path, source }: { path: string; source: string },
  { workspace, home }: { readonly workspace: string; readonly home?: string | undefined },
  realpath: (path: string) => string | undefined,
): Area {
  const place = resolve(workspace, withHome(path, home))
  const nothing: Area = { source, folder: undefined, widens: false, has: () => false }
  const read = /[*?[]/.test(place) ? readGlob(place, "path") : undefined
  if (read !== undefined && "mistake" in read) return nothing
  const base = read === undefined ? place : baseOf(read.glob)
  const widens = !isUnder(base, workspace)
  const real = widens ? realpath(base) : base
  if (real === undefined) return nothing
  if (read === undefined) return { source, folder: real, widens, has: (other) => isUnder(other, real) }
  const moved = readGlob(escaped(real) + place.slice(writtenLength(place, base)), "path")
  return "mistake" in moved ? nothing : { source, folder: undefined, widens, has: (other) => moved.glob.matches(other) }
}

/** `~/` is the home folder. */
export function withHome(path: string, home: string | undefined): string {
  return home !== undefined && (path === "~" || path.startsWith("~/")) ? home + path.slice(1) : path
}

/** The folders before the first wildcard. */
function baseOf({ start }: Glob): string {
  const end = start.lastIndexOf("/")
  return end <= 0 ? "/" : start.slice(0, end)
}

/** How much of the pattern as it was written stands for its base, without the slash after it. */
function writtenLength(pattern: string, base: string): number {
  if (base === "/") return 0
  let at = 0
  for (let meant = 0; meant < base.length; meant++, at++) if (pattern[at] === "\\") at++
  return at
}

function escaped(text: string): string {
  return text === "/" ? "" : text.replace(/[\\*?[]/g, "\\$&")
}
