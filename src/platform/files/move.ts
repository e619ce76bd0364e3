import { lstatSync, openSync, closeSync, constants, fstatSync } from "node:fs"
import type { FileFacts } from "./file-access.ts"
import { isUnder } from "../../guards/paths/allowed-path.ts"
import { writeBackup } from "./backups.ts"
import { renameOrCopy } from "./rename-or-copy.ts"
import { factsOf } from "./facts.ts"
import { fileExistsFailure, fileNotFoundFailure, fileFailure, specialFileFailure } from "./file-failures.ts"
import { resolvePath, type ResolvedPath } from "./resolve-path.ts"
import type { EntryLocation } from "./folder-tree.ts"
import type { WriteContext } from "./write.ts"

/** Moves a file, link or folder to a free name, or with `overwrite` over a file, which is backed up first. */
export async function move(context: WriteContext, from: string, to: string, overwrite: boolean): Promise<FileFacts> {
  const source = resolvePath(context, from, { use: "write", follow: false })
  try {
    const entry = requireMovable(source, from)
    const target = resolvePath(context, to, { use: "write", follow: false, createFolders: true })
    try {
      const destination = destinationOf(context, source, target, { from, to, overwrite })
      if (destination !== "same path")
        await renameOrCopy(context.opener, entry, destination.entry, { from, to, overwrite: destination.overwrite })
      const found = lstatSync(target.folder.at(target.name!), { bigint: true })
      return factsOf(found, target.real, context.pathPolicy.displayPath(target.real))
    } finally {
      target.folder.close()
    }
  } finally {
    source.folder.close()
  }
}

/** Refuses to move a root, a missing path or a special file. */
export function requireMovable({ folder, name, found }: ResolvedPath, path: string): EntryLocation {
  if (name === undefined)
    throw fileFailure(
      "sealed",
      `'${path}' is the workspace or an allowed folder itself, so it cannot be moved or deleted. Name something in it.`,
    )
  if (found === undefined) throw fileNotFoundFailure(path)
  if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink()) throw specialFileFailure(path)
  return { folder, name }
}

function destinationOf(
  context: WriteContext,
  source: ResolvedPath,
  { folder, name, real, found }: ResolvedPath,
  { from, to, overwrite }: { from: string; to: string; overwrite: boolean },
): { entry: EntryLocation; overwrite: boolean } | "same path" {
  if (name === undefined) throw fileExistsFailure(to)
  if (real === source.real) return "same path"
  if (source.found?.isDirectory() && isUnder(real, source.real))
    throw fileFailure("bad_path", `'${to}' is inside '${from}', so it cannot be moved there. Choose another path.`)
  const entry = { folder, name }
  if (found === undefined) return { entry, overwrite }
  const isSame = found.ino === source.found?.ino && found.dev === source.found.dev
  // On a case-insensitive disk this changes the letter case of the name.
  if (isSame && real.toLowerCase() === source.real.toLowerCase()) return { entry, overwrite: true }
  if (!overwrite) throw fileExistsFailure(to)
  if (found.isDirectory() || source.found?.isDirectory())
    throw fileFailure("exists", `'${to}' exists already, and folders are not overwritten. Delete it first, or choose another name.`) // prettier-ignore
  if (found.isFile()) backUp(context, entry, real)
  return { entry, overwrite }
}

function backUp(context: WriteContext, { folder, name }: EntryLocation, real: string): void {
  if (context.backups <= 0) return
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const descriptor = openSync(folder.at(name), flags)
  try {
    if (fstatSync(descriptor).isFile()) writeBackup(context, real, descriptor, context.backups)
  } finally {
    closeSync(descriptor)
  }
}
