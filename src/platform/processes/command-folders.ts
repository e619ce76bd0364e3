import { existsSync } from "node:fs"
import { relative } from "node:path"
import { failure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { CommandSpec } from "../../model/processes.ts"
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
 * The workspace and the additional roots, or the narrower paths of this call. A protected path among them, or a confirmed
 * path without an approval, is read-only, or absent if it must not be read either.
 */
export function usableFolders(
  { allowedPaths, unapproved = false }: CommandSpec,
  files: Files,
  roots: readonly string[] = [],
): UsableFolders {
  const all = [files.workspace, ...roots.filter(existsSync)]
  const usable = allowedPaths === undefined ? all : narrowed(allowedPaths, files, all)
  const named = outermost(usable).map((path) => ({ path, shown: isWithin(path, files.workspace) ? relative(files.workspace, path) : path })) // prettier-ignore
  const isProtected = (shown: string, use: FileAccess) =>
    protectedBecause(shown, use) !== undefined || (unapproved && confirmedBecause(shown, use) !== undefined)
  const visible = named.filter(({ shown }) => !isProtected(shown, "read"))
  return {
    writable: visible.flatMap(({ path, shown }) => (isProtected(shown, "write") ? [] : [path])),
    readable: visible.flatMap(({ path, shown }) => (isProtected(shown, "write") ? [path] : [])),
  }
}

function narrowed(allowedPaths: readonly string[], files: Files, all: readonly string[]): string[] {
  const narrow = files.within(allowedPaths)
  return allowedPaths
    .flatMap((path) => realOrNone(narrow, path))
    .filter((path) => all.some((root) => isWithin(path, root)))
}

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
