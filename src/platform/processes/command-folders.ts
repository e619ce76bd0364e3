import { relative, resolve } from "node:path"
import { failure } from "../../core/ending.ts"
import type { Files } from "../files/file-access.ts"
import type { CommandSpec } from "./process-access.ts"
import { wholeFolder } from "../../guards/paths/allowed-path.ts"
import { confirmedBecause, protectedBecause, type FileAccess } from "../../guards/paths/path-lists.ts"
import { isWithin } from "./is-within.ts"

/** The folder a command runs in. Throws a `failure` if there is none. */
export function commandFolder({ cwd = ".", allowedPaths }: CommandSpec, files: Files): string {
  const { kind, real, path } = files.within(allowedPaths).facts(cwd)
  if (kind === "folder") return real
  throw failure(`'${path}' is not a folder, so no command can run in it. Name a folder.`, { toolCode: "not_a_folder" })
}

/** The folders and files a command may use in the sandbox. */
export interface UsableFolders {
  readonly writable: string[]
  readonly readable: string[]
}

/**
 * The places that are open to commands, as far as this call may use them. A protected path among them, or a confirmed path
 * without an approval, is read-only, or absent if it must not be read either.
 */
export function usableFolders(
  { allowedPaths, unapproved = false }: CommandSpec,
  files: Files,
  places: readonly string[] = [files.workspace],
): UsableFolders {
  const open = places.flatMap((path) => realOrNone(files, path))
  const usable = allowedPaths === undefined ? open : narrowed(allowedPaths, files, open)
  const named = outermost(usable).map((path) => ({ path, shown: isWithin(path, files.workspace) ? relative(files.workspace, path) : path })) // prettier-ignore
  const isProtected = (shown: string, use: FileAccess) =>
    protectedBecause(shown, use) !== undefined || (unapproved && confirmedBecause(shown, use) !== undefined)
  const visible = named.filter(({ shown }) => !isProtected(shown, "read"))
  return {
    writable: visible.flatMap(({ path, shown }) => (isProtected(shown, "write") ? [] : [path])),
    readable: visible.flatMap(({ path, shown }) => (isProtected(shown, "write") ? [path] : [])),
  }
}

/** The paths of the call that are in an open place, and the open places that are in a path of the call. */
function narrowed(allowedPaths: readonly string[], files: Files, open: readonly string[]): string[] {
  const narrow = files.within(allowedPaths)
  const paths = allowedPaths.map(wholeFolder)
  const inside = paths.flatMap((path) => realOrNone(narrow, path)).filter((path) => open.some((place) => isWithin(path, place))) // prettier-ignore
  const around = open.filter((place) => paths.some((path) => isWithin(place, resolve(files.workspace, path))))
  return [...inside, ...around]
}

/** Nothing for what is missing, or what is a link out of the places that may be used. */
function realOrNone(files: Files, path: string): string[] {
  try {
    return [files.facts(path).real]
  } catch {
    return []
  }
}

/** Drops folders inside others: they are writable with them. */
const outermost = (paths: readonly string[]) =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
