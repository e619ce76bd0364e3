import { posix } from "node:path"
import { confirmedBecause, protectedBecause } from "../paths/path-lists.ts"
import { expandPattern, resolveIn, type Disk } from "./disk.ts"
import type { Redirect, Unprovable } from "./shell-line.ts"
import type { ProgramUse } from "./programs.ts"
import { repositoryDoubt } from "./git-repository.ts"

/** A file that a segment names. `path` is absolute. */
export interface NamedFile {
  readonly kind: "read" | "write"
  readonly path: string
  /** The word may or may not name a file. */
  readonly guessed?: boolean
  /** The shell itself writes it. */
  readonly redirected?: boolean
  /** Counts only if the path guard denies it. */
  readonly ifDenied?: boolean
}

/** The files that a program uses when it runs in a folder, and those that the shell opens for it. */
export function filesUsed(
  redirects: readonly Redirect[],
  use: ProgramUse,
  start: string,
  { disk, workspace }: { readonly disk: Disk; readonly workspace: string },
): NamedFile[] | Unprovable {
  const files: NamedFile[] = []
  const folder = use.changesTo === undefined ? start : resolveIn(start, use.changesTo.value, disk)
  if (use.changesTo !== undefined) {
    files.push({ kind: "read", path: folder })
    if (!isInside(disk.realpath(folder) ?? folder, workspace))
      return { because: `it changes to the folder '${folder}' outside the workspace` }
  }
  const doubt = use.repository === true ? repositoryDoubt(folder, workspace, disk) : undefined
  if (doubt !== undefined) return { because: doubt }
  const foreignPackage = use.packages?.find(({ value }) => isForeign(resolveIn(folder, value, disk), workspace, disk))
  if (foreignPackage !== undefined)
    return { because: "it would run scripts of another repository or of an installed package" }
  const groups = [
    ["read", use.reads ?? []],
    ["write", use.writes ?? []],
    ["read", use.recursiveReads ?? []],
  ] as const
  for (const [kind, words] of groups) {
    for (const word of words) {
      const paths = expandPattern(word, folder, disk)
      if (paths === undefined) return { because: `the pattern '${word.value}' stands for too many or hidden files` }
      const option = paths.find((path) => path.startsWith("-") && word.glob !== -1)
      if (option !== undefined) return { because: `the pattern '${word.value}' stands for '${option}'` }
      files.push(...paths.map((path) => ({ kind, path: resolveIn(folder, path, disk) })))
    }
  }
  for (const { value } of use.workspaceReads ?? [])
    files.push({ kind: "read", path: resolveIn(workspace, value, disk) })
  const nested = filesBelow(use, folder, disk)
  if ("because" in nested) return nested
  const redirected = redirects.flatMap((redirect) => redirectFile(redirect, start, disk) ?? [])
  const guessed = (use.guesses ?? []).flatMap(pathsIn).filter((path) => looksLikePath(path, folder, disk))
  return [
    ...files,
    ...nested,
    ...redirected,
    ...guessed.map((path) => ({ kind: "read" as const, path: resolveIn(folder, path, disk), guessed: true })),
  ]
}

/**
 * Reports whether a folder of the workspace is a nested repository or an installed package, and so came from others.
 */
function isForeign(folder: string, workspace: string, disk: Disk): boolean {
  for (let place = disk.realpath(folder) ?? folder; place.length > workspace.length; place = posix.dirname(place))
    if (posix.basename(place) === "node_modules" || disk.names(place)?.includes(".git") !== false) return true
  return false
}

/** All files below the folders that a program reads recursively. Programs that follow links there are not proved. */
function filesBelow({ recursiveReads = [] }: ProgramUse, folder: string, disk: Disk): NamedFile[] | Unprovable {
  const files: NamedFile[] = []
  for (const word of recursiveReads) {
    for (const value of expandPattern(word, folder, disk) ?? []) {
      const place = resolveIn(folder, value, disk)
      const tree = disk.tree(place)
      if (tree === undefined)
        return { because: `'${value}' has too many files to check each; use search_files, which does not ask` }
      for (const path of tree) files.push({ kind: "read", path })
    }
  }
  return files
}

function redirectFile({ operator, target }: Redirect, folder: string, disk: Disk): NamedFile | undefined {
  if (operator === "<<" || operator === "<<<" || operator === ">&" || operator === "<&") return undefined
  if (target.value === "/dev/null") return undefined
  const path = resolveIn(folder, target.value, disk)
  return operator === "<" ? { kind: "read", path } : { kind: "write", path, redirected: true }
}

function looksLikePath(text: string, folder: string, disk: Disk): boolean {
  if (text.includes("/") || text.startsWith(".") || disk.isFile(posix.resolve(folder, text))) return true
  return (
    /\.|file$|^id_/i.test(text) && (protectedBecause(text, "write") ?? confirmedBecause(text, "write")) !== undefined
  )
}

export function uniqueFiles(files: readonly NamedFile[]): NamedFile[] {
  return [...new Map(files.map((file) => [`${file.kind} ${file.path}`, file])).values()]
}

/** The parts of a word that may be a path: the whole word, and the text after `=` or an option letter. */
export function pathsIn(word: string): string[] {
  if (word.includes("://")) return []
  const value = /^[^=/]*=(.*)$/.exec(word)?.[1]
  const candidates = word.startsWith("-") ? [value ?? "", word.slice(2)] : [word, value ?? ""]
  return candidates.filter((text) => text !== "" && !text.startsWith("-"))
}

/** Reports whether a path is the workspace or below it. */
export function isInside(path: string, workspace: string): boolean {
  return path === workspace || path.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`)
}
