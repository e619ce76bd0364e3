import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { failure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { GlobList } from "./glob-list.ts"
import { factsIfThere, withNearNames } from "./options.ts"

/** Where a search begins. */
export interface SearchRoot {
  /** The real folder that ripgrep works in. */
  readonly cwd: string
  /** What it is told to look at, from there; undefined when there is nothing to look at. */
  readonly target: string | undefined
  readonly isFile: boolean
  /** Version control begins here: what is ignored above does not count. */
  readonly isRepository: boolean
  /** The path from the workspace of what ripgrep prints. */
  pathOf(printed: string): string
  /** What ripgrep is to be given for such a path. */
  printedOf(path: string): string
}

/** Refuses what is missing, outside or never searched. `globs` narrow it to the folder that all of them name. */
export function searchRoot(files: Files, path: string, globs?: GlobList): SearchRoot {
  const { kind, real, path: from } = factsOrNear(files, path)
  if (kind !== "file" && kind !== "folder") {
    throw failure(`'${path}' is neither a file nor a folder. Search another path.`, { toolCode: "special_file" })
  }
  if (from !== "." && !files.isShown(from)) {
    throw failure(`'${path}' is left out of searches, because of what such a place may hold. Search elsewhere.`, {
      toolCode: "not_searched",
    })
  }
  const isFile = kind === "file"
  const folder = isFile ? dirname(from) : from
  const before = folder === "." ? "" : folder === "/" ? "/" : `${folder}/`
  return {
    cwd: isFile ? dirname(real) : real,
    isRepository: existsSync(join(isFile ? dirname(real) : real, ".git")),
    target: isFile ? `./${basename(real)}` : targetOf(files, real, before, globs?.folder ?? ""),
    isFile,
    pathOf: (printed) => before + printed.slice(2),
    printedOf: (from) => `./${from.slice(before.length)}`,
  }
}

/** A link is not followed: what it leads to has a name of its own. */
function targetOf(files: Files, real: string, before: string, folder: string): string | undefined {
  if (folder === "") return "."
  const facts = factsIfThere(files, before + folder)
  return facts?.kind === "folder" && facts.real === join(real, folder) ? `./${folder}` : undefined
}

function factsOrNear(files: Files, path: string) {
  try {
    return files.facts(path)
  } catch (error) {
    throw withNearNames(error, path, files)
  }
}

/** Whether the folder of a path is still where ripgrep saw it, inside the fence and no link; of names no more is needed. */
export function isInsideOf(files: Files, { cwd, printedOf }: SearchRoot): (path: string) => boolean {
  const known = new Map<string, boolean>()
  return (path) => {
    const folder = dirname(path)
    const isInside = known.get(folder) ?? isAt(files, folder, join(cwd, dirname(printedOf(path))))
    known.set(folder, isInside)
    return isInside
  }
}

function isAt(files: Files, path: string, expected: string): boolean {
  try {
    const { kind, real } = files.facts(path)
    return kind === "folder" && real === expected
  } catch {
    return false
  }
}

export const hiddenInput = "Also what begins with a dot, for example .github"
export const ignoredInput = "Also what .gitignore and .ignore leave out"

/** What ripgrep is told about which files. Globs go by names, because its own globs would bring ignored files back. */
export function whichFiles(given: {
  globs: GlobList
  exclude: readonly string[]
  types: readonly string[]
  hidden: boolean
  ignored: boolean
  root: SearchRoot
}): string[] {
  const { globs, exclude, types, hidden, ignored, root } = given
  const names = globs.all || types.length > 0 ? [] : (globs.names ?? [])
  return [
    ...(hidden ? ["--hidden"] : []),
    ...(ignored ? ["--no-ignore"] : root.isRepository ? ["--no-ignore-parent"] : []),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ["--type=wanted"] : []),
    ...types.map((type) => `--type=${type}`),
    ...exclude.map((pattern) => `--glob=!${pattern}`),
  ]
}

/** Which of the files that ripgrep told of are meant; those are from the folder that is searched. */
export function fileFilter(
  files: Files,
  root: SearchRoot,
  globs: GlobList,
  given: { hidden: boolean; types: readonly string[] },
): (printed: string) => string | undefined {
  const showsDots = given.hidden || root.isFile || (globs.names?.some((name) => name.startsWith(".")) ?? false)
  const isDone = globs.byNameAlone && globs.names !== undefined && given.types.length === 0
  const needsGlobs = !globs.all && !root.isFile && !isDone
  return (printed) => {
    if (!showsDots && printed.charCodeAt(printed.lastIndexOf("/") + 1) === dot) return undefined
    // What cannot be written as text has no path that a tool could take.
    if (printed.includes("\uFFFD")) return undefined
    if (needsGlobs && !globs.fits(printed.slice(2))) return undefined
    const path = root.pathOf(printed)
    return files.isShown(path) ? path : undefined
  }
}

const dot = 46
