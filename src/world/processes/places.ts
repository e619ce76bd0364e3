import { existsSync } from "node:fs"
import { failure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { CommandSpec } from "../../model/processes.ts"
import { isWithin } from "./seals.ts"

/** The folder a command runs in; a `failure` where there is none. */
export function folderOf({ cwd = ".", allowedPaths }: CommandSpec, files: Files): string {
  const { kind, real, path } = files.within(allowedPaths).facts(cwd)
  if (kind === "folder") return real
  throw failure(`'${path}' is not a folder, so no command can run in it.`, { toolCode: "not_a_folder" })
}

/** The workspace and the further roots, or the narrower places of this call. */
export function writableFolders({ allowedPaths }: CommandSpec, files: Files, roots: readonly string[] = []): string[] {
  const all = [files.workspace, ...roots.filter(existsSync)]
  if (allowedPaths === undefined) return outermost(all)
  const narrowed = files.within(allowedPaths)
  return outermost(
    allowedPaths
      .flatMap((path) => realOrNone(narrowed, path))
      .filter((path) => all.some((root) => isWithin(path, root))),
  )
}

function realOrNone(files: Files, path: string): string[] {
  try {
    return [files.facts(path).real]
  } catch {
    return []
  }
}

/** A folder inside another one is writable with it. */
const outermost = (paths: readonly string[]) =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
