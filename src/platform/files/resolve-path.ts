import { lstatSync, readlinkSync, type BigIntStats } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import type { PathPolicy } from "../../guards/paths/path-policy.ts"
import type { FileAccess } from "../../guards/paths/path-lists.ts"
import { linkToConfirmedPath } from "../../guards/paths/path-refusals.ts"
import { openOrCreateFolder, type FolderOpener, type FolderHandle } from "./folder-handle.ts"
import { fileFailure, failureOfRefusal } from "./file-failures.ts"

/** The folders tools may use: the policy that decides on paths, and how folders are opened. */
export interface FileRoots {
  readonly pathPolicy: PathPolicy
  readonly opener: FolderOpener
}

/** A path that was checked: an open folder inside the file roots and a name in it, whether or not that exists. */
export interface ResolvedPath {
  readonly folder: FolderHandle
  /** Undefined when the path is a root itself. */
  readonly name: string | undefined
  readonly real: string
  /** Undefined when nothing is there. */
  readonly found: BigIntStats | undefined
}

export interface ResolveOptions {
  readonly use: FileAccess
  /** Follows a link at the end of the path; otherwise the link itself is meant. */
  readonly follow: boolean
  /** Creates missing parent folders. */
  readonly createFolders?: boolean
}

/**
 * Resolves a path and checks it against the policy. Links at its end are followed one at a time, and each target is
 * checked. The caller closes the folder.
 */
export function resolvePath(roots: FileRoots, path: string, options: ResolveOptions): ResolvedPath {
  const { pathPolicy } = roots
  const named = allowedAbsolutePath(pathPolicy, path, options.use)
  let absolute = named
  for (let links = 0; links <= mostLinks; links++) {
    const resolved = resolveOnce(roots, absolute, path, options)
    if (typeof resolved === "string") absolute = resolved
    else if (isUsable(pathPolicy, named, resolved, path, options.use)) return resolved
  }
  throw unresolvableLink(path)
}

/** Resolves a path, does the work, and closes the folder. */
export function withResolvedPath<T>(
  roots: FileRoots,
  path: string,
  options: ResolveOptions,
  work: (resolved: ResolvedPath) => T,
): T {
  const resolved = resolvePath(roots, path, options)
  try {
    return work(resolved)
  } finally {
    resolved.folder.close()
  }
}

/** The absolute path a text means, if the policy allows its use as far as the text alone can tell. */
export function allowedAbsolutePath(policy: PathPolicy, path: string, use: FileAccess): string {
  const absolute = policy.resolve(path)
  if (typeof absolute !== "string") throw failureOfRefusal(absolute)
  if (!policy.contains(absolute)) {
    // A link outside the roots may lead into them. `realpath` tells without opening anything outside.
    const refusal = policy.refusal(policy.realpath(absolute) ?? absolute, use, path)
    if (refusal !== undefined) throw failureOfRefusal(refusal)
  }
  const refusal = policy.protectedRefusal(absolute, use, path)
  if (refusal !== undefined) throw failureOfRefusal(refusal)
  return absolute
}

/** Opens a folder if the policy allows this use of it. */
export function openFolder(
  { pathPolicy, opener }: FileRoots,
  absolute: string,
  path: string,
  use: FileAccess,
): FolderHandle {
  const folder = attempt({ pathPolicy, opener }, absolute, path, () => opener.open(absolute))
  const refusal = pathPolicy.refusal(folder.real, use, path)
  if (refusal === undefined) return folder
  folder.close()
  throw failureOfRefusal(refusal)
}

/** Refuses a link that is another name for a confirmed path: the person was not asked about that path. */
export function checkConfirmed(policy: PathPolicy, named: string, real: string, path: string, use: FileAccess): void {
  if (real === named) return
  const because = policy.confirmedBecause(real, use)
  if (because !== undefined && policy.confirmedBecause(named, use) === undefined)
    throw failureOfRefusal(linkToConfirmedPath(path, policy.displayPath(real), because))
}

const mostLinks = 40

function isUsable(policy: PathPolicy, named: string, resolved: ResolvedPath, path: string, use: FileAccess): true {
  try {
    checkConfirmed(policy, named, resolved.real, path, use)
    return true
  } catch (error) {
    resolved.folder.close()
    throw error
  }
}

/** Resolves without following a link at the end: returns the link's target instead, to go on with. */
function resolveOnce(
  roots: FileRoots,
  absolute: string,
  path: string,
  { use, follow, createFolders }: ResolveOptions,
): ResolvedPath | string {
  if (roots.pathPolicy.isRoot(absolute)) {
    const folder = openFolder(roots, absolute, path, use)
    return { folder, name: undefined, real: folder.real, found: lstatSync(`${folder.self}/.`, { bigint: true }) }
  }
  const parent = dirname(absolute)
  if (createFolders === true) checkBeforeCreating(roots.pathPolicy, absolute, use, path)
  const open = () => (createFolders === true ? openOrCreateFolders(roots, parent, path) : roots.opener.open(parent))
  const folder = attempt(roots, absolute, path, open)
  let staysOpen = false
  try {
    const name = basename(absolute)
    const real = join(folder.real, name)
    const refusal = roots.pathPolicy.refusal(real, use, path)
    if (refusal !== undefined) throw failureOfRefusal(refusal)
    const found = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
    folder.verify()
    if (follow && found?.isSymbolicLink()) return linkTarget(roots.pathPolicy, folder, name, path)
    staysOpen = true
    return { folder, name, real, found }
  } finally {
    if (!staysOpen) folder.close()
  }
}

/** Checks where a path will really be, before any folder on the way to it is created. */
function checkBeforeCreating(policy: PathPolicy, absolute: string, use: FileAccess, path: string): void {
  const real = policy.realpath(dirname(absolute))
  if (real === undefined) throw unresolvableLink(path)
  const refusal = policy.refusal(join(real, basename(absolute)), use, path)
  if (refusal !== undefined) throw failureOfRefusal(refusal)
}

/** If opening fails outside the file roots, the error is `outside`: the system's error would reveal what is there. */
function attempt(roots: FileRoots, absolute: string, path: string, open: () => FolderHandle): FolderHandle {
  try {
    return open()
  } catch (error) {
    const real = roots.pathPolicy.realpath(absolute)
    const refusal = real === undefined ? undefined : roots.pathPolicy.refusal(real, "read", path)
    throw refusal?.code === "outside" && !roots.pathPolicy.isRoot(absolute) ? failureOfRefusal(refusal) : error
  }
}

/** Returns the target of a link. The caller opens and checks that path like any other. */
function linkTarget(policy: PathPolicy, folder: FolderHandle, name: string, path: string): string {
  const target = readlinkSync(folder.at(name))
  const next = policy.realpath(isAbsolute(target) ? target : `${folder.real}/${target}`)
  if (next === undefined) throw unresolvableLink(path)
  const refusal = policy.refusal(next, "read", path)
  if (refusal?.code === "outside") throw failureOfRefusal(refusal)
  return next
}

/**
 * Opens a folder and creates what is missing of it, each folder in its open parent. The check ignores the call's own
 * narrower paths (`unnarrowed`): a call that may use only some names may still create the folders they are in.
 */
function openOrCreateFolders(roots: FileRoots, absolute: string, path: string): FolderHandle {
  const { pathPolicy, opener } = roots
  try {
    return opener.open(absolute)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT"
    if (!isMissing || pathPolicy.isRoot(absolute) || dirname(absolute) === absolute) throw error
  }
  const parent = openOrCreateFolders(roots, dirname(absolute), path)
  try {
    const name = basename(absolute)
    const refusal = pathPolicy.unnarrowed.refusal(join(parent.real, name), "write", path)
    if (refusal !== undefined) throw failureOfRefusal(refusal)
    return openOrCreateFolder(opener, parent, name)
  } finally {
    parent.close()
  }
}

function unresolvableLink(path: string): Error {
  return fileFailure(
    "bad_path",
    `Quartermaster cannot tell where the link '${path}' leads. Use the path of the file itself.`,
  )
}
