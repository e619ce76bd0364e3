import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { failure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import type { GlobList } from "./glob-list.ts"
import { factsIfExists, withSuggestions } from "./workspace.ts"

/** The start of a search. */
export interface SearchRoot {
  /** The real folder in which ripgrep runs. */
  readonly cwd: string
  /** The target of ripgrep, relative to `cwd`; undefined if there is nothing to search. */
  readonly target: string | undefined
  readonly isFile: boolean
  /** The folder is a git repository, so ignore files above it do not apply. */
  readonly isRepository: boolean
  /** The workspace path of a path that ripgrep printed. */
  pathOf(printed: string): string
  /** The reverse: the path to pass to ripgrep. */
  printedOf(path: string): string
}

/** Refuses a path that is missing, outside or never searched. `globs` narrow the search to the folder they share. */
export function searchRoot(files: Files, path: string, globs?: GlobList): SearchRoot {
  const { kind, real, path: from } = factsOrSuggest(files, path)
  if (kind !== "file" && kind !== "folder") {
    throw failure(`'${path}' is neither a file nor a folder. Search another path.`, { toolCode: "special_file" })
  }
  if (from !== "." && !files.isShown(from)) {
    throw failure(`'${path}' is left out of searches, because it may contain secrets. Search another path.`, {
      toolCode: "not_searched",
    })
  }
  const isFile = kind === "file"
  const folder = isFile ? dirname(from) : from
  const prefix = folder === "." ? "" : folder === "/" ? "/" : `${folder}/`
  return {
    cwd: isFile ? dirname(real) : real,
    isRepository: existsSync(join(isFile ? dirname(real) : real, ".git")),
    target: isFile ? `./${basename(real)}` : targetOf(files, real, prefix, globs?.folder ?? ""),
    isFile,
    pathOf: (printed) => prefix + printed.slice(2),
    printedOf: (from) => `./${from.slice(prefix.length)}`,
  }
}

/** Undefined for a link: its target has a path of its own. */
function targetOf(files: Files, real: string, prefix: string, folder: string): string | undefined {
  if (folder === "") return "."
  const facts = factsIfExists(files, prefix + folder)
  return facts?.kind === "folder" && facts.real === join(real, folder) ? `./${folder}` : undefined
}

function factsOrSuggest(files: Files, path: string) {
  try {
    return files.facts(path)
  } catch (error) {
    throw withSuggestions(error, path, files)
  }
}

/** Reports whether the folder of a path is still the one ripgrep searched: inside the file roots and not a link. */
export function stillInside(files: Files, { cwd, printedOf }: SearchRoot): (path: string) => boolean {
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

/**
 * The ripgrep arguments that select files. Globs become types, because ripgrep's `--glob` would include ignored files.
 */
export function fileArguments(given: {
  globs: GlobList
  exclude: readonly string[]
  types: readonly string[]
  hidden: boolean
  ignored: boolean
  root: SearchRoot
}): string[] {
  const { globs, exclude, types, hidden, ignored, root } = given
  const names = globs.matchesAll || types.length > 0 ? [] : (globs.nameGlobs ?? [])
  return [
    ...(hidden ? ["--hidden"] : []),
    ...(ignored ? ["--no-ignore"] : root.isRepository ? ["--no-ignore-parent"] : []),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ["--type=wanted"] : []),
    ...types.map((type) => `--type=${type}`),
    ...exclude.map((pattern) => `--glob=!${pattern}`),
  ]
}

/** The workspace path of a file that ripgrep printed; undefined if it is not part of the search. */
export function fileFilter(
  files: Files,
  root: SearchRoot,
  globs: GlobList,
  given: { hidden: boolean; types: readonly string[] },
): (printed: string) => string | undefined {
  const showsDots = given.hidden || root.isFile || (globs.nameGlobs?.some((name) => name.startsWith(".")) ?? false)
  const isDone = globs.byNameAlone && globs.nameGlobs !== undefined && given.types.length === 0
  const needsGlobs = !globs.matchesAll && !root.isFile && !isDone
  return (printed) => {
    if (!showsDots && printed.charCodeAt(printed.lastIndexOf("/") + 1) === dot) return undefined
    // A name that is not valid text has no path that a tool could use.
    if (printed.includes("\uFFFD")) return undefined
    if (needsGlobs && !globs.matches(printed.slice(2))) return undefined
    const path = root.pathOf(printed)
    return files.isShown(path) ? path : undefined
  }
}

const dot = 46
