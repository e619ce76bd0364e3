import { resolve, sep } from "node:path"
import { readGlob, type Glob } from "../../lib/glob.ts"

/** Reports whether an absolute path is the folder or below it. */
export function isUnder(absolute: string, folder: string): boolean {
  if (!absolute.startsWith(folder)) return false
  return absolute.length === folder.length || folder.endsWith(sep) || absolute[folder.length] === sep
}

/** A parsed entry of `allowedPaths`. */
export interface AllowedPath {
  /** The folder; undefined for a glob. */
  readonly folder: string | undefined
  readonly isOutsideWorkspace: boolean
  contains(absolute: string): boolean
}

/**
 * Parses an entry of `allowedPaths`: a folder with everything below it (`docs`, `docs/**`), or a glob that must match a
 * whole path. Links are not followed for an entry inside the workspace, because an agent could have made them. An entry
 * outside was written by a person and stands for its real path.
 */
export function readAllowedPath(
  path: string,
  { workspace, home }: { readonly workspace: string; readonly home?: string },
  realpath: (path: string) => string | undefined,
): AllowedPath {
  const absolute = resolve(workspace, wholeFolder(expandHome(path, home)))
  const matchesNothing: AllowedPath = { folder: undefined, isOutsideWorkspace: false, contains: () => false }
  const read = /[*?[]/.test(absolute) ? readGlob(absolute, "path") : undefined
  if (read !== undefined && "mistake" in read) return matchesNothing
  const base = read === undefined ? absolute : baseOf(read.glob)
  const isOutsideWorkspace = !isUnder(base, workspace)
  const real = isOutsideWorkspace ? realpath(base) : base
  if (real === undefined) return matchesNothing
  if (read === undefined) return { folder: real, isOutsideWorkspace, contains: (candidate) => isUnder(candidate, real) }
  const resolved = readGlob(escaped(real) + absolute.slice(writtenLength(absolute, base)), "path")
  return "mistake" in resolved
    ? matchesNothing
    : { folder: undefined, isOutsideWorkspace, contains: (candidate) => resolved.glob.matches(candidate) }
}

/** The folder that `docs/**` stands for; any other path as it is. */
export function wholeFolder(path: string): string {
  const folder = path.replace(/(?<=^|\/)\*\*$/, "").replace(/(?<=[^/])\/$/, "") || "."
  return /[*?[]/.test(folder) ? path : folder
}

/** Replaces `~/` with the home folder. */
export function expandHome(path: string, home: string | undefined): string {
  return home !== undefined && (path === "~" || path.startsWith("~/")) ? home + path.slice(1) : path
}

/** The folders before the first wildcard. */
function baseOf({ start }: Glob): string {
  const end = start.lastIndexOf("/")
  return end <= 0 ? "/" : start.slice(0, end)
}

/** Counts the characters of the pattern, escapes included, that make up its base without the slash after it. */
function writtenLength(pattern: string, base: string): number {
  if (base === "/") return 0
  let at = 0
  for (let unescaped = 0; unescaped < base.length; unescaped++, at++) if (pattern[at] === "\\") at++
  return at
}

function escaped(text: string): string {
  return text === "/" ? "" : text.replace(/[\\*?[]/g, "\\$&")
}
