import { resolve, sep } from "node:path"
import { readGlob } from "../../lib/glob.ts"
import { isUnder, readAllowedPath, expandHome, type AllowedPath } from "./allowed-path.ts"
import { confirmedBecause, isVersionControl, protectedBecause, type FileAccess } from "./path-lists.ts"
import { resolveLinks } from "./resolve-links.ts"
import {
  badPath,
  protectedByConfig,
  protectedPath,
  outsideAllowedPaths,
  outsideCallPaths,
  outsideWorkspace,
  systemPath,
  type PathRefusal,
} from "./path-refusals.ts"
import { foldPath, pathTextFault } from "./path-text.ts"

export interface PathPolicyOptions {
  /** The real path of the workspace. */
  readonly workspace: string
  /**
   * `tools.allowedPaths`: the only places that may be used, inside the workspace or outside it; the whole workspace
   * when left out. `~/` is the home folder.
   */
  readonly allowedPaths?: readonly string[]
  /** `tools.protectedPaths`: no tool writes these. A pattern without a slash matches that name in every folder. */
  readonly protectedPaths?: readonly { readonly pattern: string; readonly source: string }[]
  /** Absolute paths that are neither read nor written: the data folder, tokens. */
  readonly privatePaths?: readonly string[]
  /** Absolute paths of the files of databases, which tools use as databases only. */
  readonly databaseFiles?: readonly string[]
  /** Absolute paths that are read but not written: configuration, plugins. */
  readonly readOnlyPaths?: readonly string[]
  /** The files that people talk in now, relative to the workspace: they are read but not written. */
  readonly openDocuments?: () => readonly string[]
  readonly home?: string
  /** Resolves links; asks the disk when left out. */
  readonly realpath?: (path: string) => string | undefined
}

/** The paths tools may use: the file roots, and the protected and confirmed paths in them. */
export interface PathPolicy {
  readonly workspace: string
  /** The policy before `tools.allowedPaths` and `within` narrowed it. */
  readonly unnarrowed: PathPolicy
  /** The workspace, or the folders and files that `tools.allowedPaths` names. */
  readonly places: readonly string[]
  /** Absolute paths that are neither read nor written. */
  readonly privatePaths: readonly string[]
  realpath(absolute: string): string | undefined
  /** The absolute path, from the text alone: links are not followed. */
  resolve(path: string): string | PathRefusal
  /** Why the access is refused; undefined when it is not. Does not follow links: pass the real path, or check both. */
  refusal(absolute: string, use: FileAccess, path?: string): PathRefusal | undefined
  /** The same for protected paths only, inside and outside the file roots. */
  protectedRefusal(absolute: string, use: FileAccess, path?: string): PathRefusal | undefined
  /** Why a person is asked each time; undefined when that is not needed. */
  confirmedBecause(absolute: string, use: FileAccess): string | undefined
  contains(absolute: string): boolean
  /** Reports whether the path is the workspace or another file root itself. */
  isRoot(absolute: string): boolean
  /** Reports whether searches show the path: not version control, secrets or anything that may not be read. */
  isShown(absolute: string): boolean
  /** Relative to the workspace with slashes, `.` for the workspace; absolute for paths elsewhere. */
  displayPath(absolute: string): string
  /** Narrows the policy to the paths that one call may use. */
  within(allowedPaths: readonly string[] | undefined): PathPolicy
}

export function createPathPolicy(options: PathPolicyOptions): PathPolicy {
  const { workspace, databaseFiles = [], allowedPaths: configured, realpath = resolveLinks } = options
  const privatePaths = [...(options.privatePaths ?? []), ...databaseFiles]
  const allowed = (configured ?? []).map((path) => readAllowedPath(path, options, realpath))
  const outside = allowed.filter((entry) => entry.isOutsideWorkspace)
  const refuseOutside = (path: string) =>
    configured === undefined ? outsideWorkspace(path, workspace) : outsideAllowedPaths(path, configured)
  const refuseProtected = protectionCheck({ ...options, privatePaths })
  const policy: PathPolicy = {
    workspace,
    get unnarrowed() {
      return policy
    },
    places: configured === undefined ? [workspace] : allowed.flatMap(({ folder }) => folder ?? []),
    privatePaths,
    realpath,
    resolve(path) {
      const fault = pathTextFault(path)
      if (fault !== undefined) return badPath(path, fault)
      const absolute = resolve(workspace, path)
      return isSpecial(absolute, workspace) ? systemPath(path) : absolute
    },
    refusal(absolute, use, path = displayFrom(workspace, absolute)) {
      if (isSpecial(absolute, workspace)) return systemPath(path)
      if (!policy.contains(absolute)) return refuseOutside(path)
      return policy.protectedRefusal(absolute, use, path)
    },
    protectedRefusal: (absolute, use, path = displayFrom(workspace, absolute)) => refuseProtected(absolute, use, path),
    confirmedBecause: (absolute, use) => confirmedBecause(displayFrom(workspace, absolute), use),
    contains: (absolute) => isUnder(absolute, workspace) || outside.some((entry) => entry.contains(absolute)),
    isRoot: (absolute) => absolute === workspace || outside.some((entry) => entry.folder === absolute),
    isShown(absolute) {
      const shown = displayFrom(workspace, absolute)
      if (isVersionControl(shown) || confirmedBecause(shown, "read") !== undefined) return false
      return policy.refusal(absolute, "read", shown) === undefined
    },
    displayPath: (absolute) => displayFrom(workspace, absolute),
    within: (allowedPaths) => (allowedPaths === undefined ? policy : narrowToCall(policy, allowedPaths, options)),
  }
  return configured === undefined ? policy : narrow(policy, allowed, refuseOutside, options)
}

/** A narrowed policy can only be narrowed further, so that a nested call never reaches more than its caller. */
function narrowToCall(wide: PathPolicy, allowedPaths: readonly string[], options: PathPolicyOptions): PathPolicy {
  const allowed = allowedPaths.map((path) => readAllowedPath(path, options, options.realpath ?? resolveLinks))
  return narrow(wide, allowed, (path) => outsideCallPaths(path, allowedPaths), options)
}

function narrow(
  wide: PathPolicy,
  allowed: readonly AllowedPath[],
  refuseOutside: (path: string) => PathRefusal,
  options: PathPolicyOptions,
): PathPolicy {
  const contains = (absolute: string) => wide.contains(absolute) && allowed.some((entry) => entry.contains(absolute))
  const policy: PathPolicy = {
    ...wide,
    unnarrowed: wide.unnarrowed,
    contains,
    refusal: (absolute, use, path = wide.displayPath(absolute)) =>
      wide.refusal(absolute, use, path) ?? (contains(absolute) ? undefined : refuseOutside(path)),
    isShown: (absolute) => contains(absolute) && wide.isShown(absolute),
    within: (more) => (more === undefined ? policy : narrowToCall(policy, more, options)),
  }
  return policy
}

const databaseReason = "it is a database of the configuration, which only the database tools use"

type ProtectionCheck = (absolute: string, use: FileAccess, path: string) => PathRefusal | undefined

function protectionCheck({
  workspace,
  privatePaths = [],
  databaseFiles = [],
  readOnlyPaths = [],
  protectedPaths = [],
  openDocuments = () => [],
  home,
}: PathPolicyOptions): ProtectionCheck {
  const unreadable = privatePaths.map(foldPath)
  const ofDatabases = new Set(databaseFiles.map(foldPath))
  const unwritable = [...unreadable, ...readOnlyPaths.map(foldPath)]
  const lines = protectedPaths.map((line) => ({ ...line, covers: protectedPathMatcher(line.pattern, workspace, home) }))
  return (absolute, use, path) => {
    const because = protectedBecause(displayFrom(workspace, absolute), use)
    if (because !== undefined) return protectedPath(path, use, because)
    if (unwritable.length > 0) {
      const folded = foldPath(absolute)
      for (const folder of use === "read" ? unreadable : unwritable)
        if (isUnder(folded, folder) || (use === "write" && isUnder(folder, folded) && absolute !== workspace))
          return protectedPath(path, use, ofDatabases.has(folder) ? databaseReason : "it is Quartermaster's own")
    }
    if (use === "read") return undefined
    const folded = foldPath(absolute)
    const isOpen = openDocuments().some((open) => {
      const document = foldPath(resolve(workspace, open))
      return document === folded || (absolute !== workspace && isUnder(document, folded))
    })
    if (isOpen) return protectedPath(path, use, "people talk in it now")
    const line = lines.find(({ covers }) => covers(absolute))
    return line && protectedByConfig(path, line.source)
  }
}

/** Matches everything below a protected folder, and every folder above it, which must not be moved away either. */
export function protectedPathMatcher(
  pattern: string,
  workspace: string,
  home: string | undefined,
): (absolute: string) => boolean {
  const folded = foldPath(
    expandHome(pattern, home)
      .replace(/\/+$/, "")
      .replace(/\/\*\*$/, ""),
  )
  const isBareName = !folded.includes("/")
  const read = readGlob(isBareName ? folded : resolve(foldPath(workspace), folded), "path")
  if ("mistake" in read) return () => true
  const { literal, start, matches } = read.glob
  const fixedStart = literal ?? start
  return (absolute) => {
    if (isBareName) return foldPath(displayFrom(workspace, absolute)).split("/").some(matches)
    const candidate = foldPath(absolute)
    if (fixedStart.startsWith(`${candidate}/`) && candidate !== foldPath(workspace)) return true
    for (let end = candidate.length; end > 0; end = candidate.lastIndexOf("/", end - 1))
      if (matches(candidate.slice(0, end))) return true
    return false
  }
}

function displayFrom(workspace: string, absolute: string): string {
  if (absolute === workspace) return "."
  if (!isUnder(absolute, workspace)) return absolute
  const inside = absolute.slice(workspace.endsWith(sep) ? workspace.length : workspace.length + 1)
  return sep === "/" ? inside : inside.replaceAll(sep, "/")
}

/** Devices and kernel files. Shared memory (/dev/shm) is an ordinary folder. */
function isSpecial(absolute: string, workspace: string): boolean {
  if (!/^\/(proc|dev|sys)(\/|$)/.test(absolute)) return false
  return !isUnder(absolute, "/dev/shm") && !isUnder(absolute, workspace)
}
