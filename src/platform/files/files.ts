import { realpathSync } from "node:fs"
import { readdir } from "node:fs/promises"
import type { FileFacts, Files, FolderEntry, Trash, TrashLimits } from "./file-access.ts"
import { createPathPolicy, type PathPolicy, type PathPolicyOptions } from "../../guards/paths/path-policy.ts"
import { fastIsShown } from "../../guards/paths/fast-is-shown.ts"
import { ContentCache } from "./content-cache.ts"
import { factsOf, kindOf } from "./facts.ts"
import { canOpenByDescriptor, descriptorOpener, realPathOpener } from "./folder-handle.ts"
import { move } from "./move.ts"
import { similarNames } from "./similar-names.ts"
import { openFile, readSmall, type ReadContext } from "./read.ts"
import { fileNotFoundFailure, fileFailure, failureOfRefusal, translateSystemError } from "./file-failures.ts"
import { openFolder, allowedAbsolutePath, withResolvedPath, type FileRoots } from "./resolve-path.ts"
import type { TrashContext } from "./trash-limits.ts"
import { moveToTrash, createTrash } from "./trash.ts"
import { write, type WriteContext } from "./write.ts"

export interface FilesOptions extends PathPolicyOptions {
  /** The data folder, which must exist. Backups and the trash are in it. It is always protected. */
  readonly dataFolder: string
  /** The number of backups to keep of each file. */
  readonly backups?: number
  /** Limits of time and size of the trash; the defaults otherwise. */
  readonly trash?: TrashLimits
  /** Calls fsync after each write. */
  readonly syncToDisk?: boolean
  /** The contents of files in memory; a cache of its own otherwise. */
  readonly contents?: ContentCache
  /** Behaves as on systems where folders cannot be opened by descriptor; for tests. */
  readonly portable?: boolean
}

/** The path policy of these file roots, to be shared by everything that checks paths. */
export function pathPolicyFor(options: FilesOptions): PathPolicy {
  const workspace = realpathSync.native(options.workspace)
  const privatePaths = [...(options.privatePaths ?? []), realpathSync.native(options.dataFolder)]
  return createPathPolicy({ ...options, workspace, privatePaths })
}

/** Opens the workspace, or the places that `tools.allowedPaths` names, for tools. */
export function openFiles(options: FilesOptions, policy = pathPolicyFor(options)): Files {
  const context = contextOf(options, policy)
  if (options.allowedPaths !== undefined) return filesOf(narrowed(context, policy))
  return filesOf({ ...context, isShown: fastIsShown(policy, policy.privatePaths) })
}

/** Opens the trash of the same file roots. */
export function openTrash(options: FilesOptions, policy = pathPolicyFor(options)): Trash {
  return createTrash(contextOf(options, policy))
}

function contextOf(options: FilesOptions, policy: PathPolicy): Omit<FilesContext, "isShown"> {
  return {
    contents: options.contents ?? new ContentCache(),
    pathPolicy: policy,
    opener: options.portable !== true && canOpenByDescriptor() ? descriptorOpener : realPathOpener,
    dataFolder: realpathSync.native(options.dataFolder),
    backups: options.backups ?? 10,
    syncToDisk: options.syncToDisk ?? false,
    trashLimits: options.trash,
    lastCleanup: { at: 0, bytes: 0 },
  }
}

interface FilesContext extends WriteContext, TrashContext, ReadContext {
  isShown(path: string): boolean
}

/** Allowed paths may be single files and globs, so each path is checked in full. */
function narrowed(context: Omit<FilesContext, "isShown">, policy: PathPolicy): FilesContext {
  const isShown = (path: string) => {
    const absolute = policy.resolve(path)
    return typeof absolute === "string" && policy.isShown(absolute)
  }
  return { ...context, pathPolicy: policy, isShown }
}

function filesOf(context: FilesContext): Files {
  const { pathPolicy } = context
  const files: Files = {
    workspace: pathPolicy.workspace,
    within(allowedPaths, shows) {
      const narrow = allowedPaths === undefined ? files : filesOf(narrowed(context, pathPolicy.within(allowedPaths)))
      return shows === undefined ? narrow : { ...narrow, isShown: (path) => narrow.isShown(path) && shows(path) }
    },
    normalize: (path) => pathPolicy.displayPath(absolutePath(pathPolicy, path)),
    facts: (path) => translated(path, () => facts(context, path)),
    open: async (path) => translated(path, () => openFile(context, path)),
    readSmall: (path, maxBytes) => translated(path, () => readSmall(context, path, maxBytes)),
    list: (path) => translatedAsync(path, () => list(context, path)),
    write: async (path, bytes, options = {}) => translated(path, () => write(context, path, bytes, options)),
    move: (from, to, options) => translatedAsync(from, () => move(context, from, to, options?.overwrite ?? false)),
    trash: (path, agentId) => translatedAsync(path, () => moveToTrash(context, path, agentId)),
    similarNames: (path) => similarNames(context, path),
    isShown: context.isShown,
  }
  return files
}

function absolutePath(policy: PathPolicy, path: string): string {
  const absolute = policy.resolve(path)
  if (typeof absolute !== "string") throw failureOfRefusal(absolute)
  return absolute
}

function facts(context: WriteContext, path: string): FileFacts {
  return withResolvedPath(context, path, { use: "read", follow: true }, ({ real, found }) => {
    if (found === undefined) throw fileNotFoundFailure(path)
    return factsOf(found, real, context.pathPolicy.displayPath(real))
  })
}

async function list(roots: FileRoots, path: string): Promise<FolderEntry[]> {
  const folder = openFolder(roots, allowedAbsolutePath(roots.pathPolicy, path, "read"), path, "read")
  try {
    const entries = await readdir(folder.self, { withFileTypes: true })
    folder.verify()
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOTDIR"
      ? fileFailure("not_a_folder", `'${path}' is not a folder. Name a folder.`)
      : error
  } finally {
    folder.close()
  }
}

function translated<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translateSystemError(error, path)
  }
}

async function translatedAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translateSystemError(error, path)
  }
}
