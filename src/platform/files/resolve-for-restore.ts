import { lstatSync } from "node:fs"
import { basename, dirname } from "node:path"
import { isUnder } from "../../guards/paths/allowed-path.ts"
import { openFolderBelow, openOrCreateFolder } from "./folder-handle.ts"
import type { DataFolderAccess } from "./data-folder.ts"
import { fileFailure, failureOfRefusal } from "./file-failures.ts"
import type { FileRoots, ResolvedPath } from "./resolve-path.ts"

/**
 * Resolves a path for a person who restores something there. They may also restore to protected names. The path must be
 * inside the file roots and not in the data folder. Missing parent folders are created; links are not followed.
 */
export function resolveForRestore(
  { pathPolicy, opener, dataFolder }: FileRoots & DataFolderAccess,
  path: string,
): ResolvedPath {
  const absolute = pathPolicy.resolve(path)
  if (typeof absolute !== "string") throw failureOfRefusal(absolute)
  const root = rootAbove(absolute, (folder) => pathPolicy.isRoot(folder))
  if (root === undefined || root === absolute || isUnder(absolute, dataFolder)) {
    throw fileFailure("outside", `'${path}' is no longer in the workspace, so nothing can be restored there. Move it by hand from the trash in the data folder.`) // prettier-ignore
  }
  const folder = openFolderBelow(opener, root, dirname(absolute), openOrCreateFolder)
  const name = basename(absolute)
  const found = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false })
  return { folder, name, real: absolute, found }
}

function rootAbove(absolute: string, isRoot: (folder: string) => boolean): string | undefined {
  for (let folder = absolute; ; folder = dirname(folder)) {
    if (isRoot(folder)) return folder
    if (folder === dirname(folder)) return undefined
  }
}
