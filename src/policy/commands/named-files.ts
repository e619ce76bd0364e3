import { posix } from "node:path"
import { carefulBecause, sealedBecause } from "../paths-lists.ts"
import { expand, hasOddRepository, placeIn, type Disk } from "./disk.ts"
import type { Redirect, Unread } from "./line.ts"
import type { Use } from "./programs.ts"
import { unhiddenIn } from "./unhidden.ts"

/** A file that a segment names, from the root of the disk. */
export interface NamedFile {
  readonly kind: "read" | "write"
  readonly path: string
  /** It is only likely that this word names a file. */
  readonly guessed?: boolean
  /** Written by the shell, whatever the program is. */
  readonly redirected?: boolean
  /** It counts only where that is denied to everybody. */
  readonly ifDenied?: boolean
}

/** The files that a program will use when it runs in a folder, and those that the shell opens for it. */
export function filesOf(
  redirects: readonly Redirect[],
  use: Use,
  start: string,
  { disk, workspace }: { readonly disk: Disk; readonly workspace: string },
): NamedFile[] | Unread {
  const files: NamedFile[] = []
  const folder = use.within === undefined ? start : placeIn(start, use.within.value, disk)
  if (use.within !== undefined) {
    files.push({ kind: "read", path: folder })
    if (!isInside(disk.realpath(folder) ?? folder, workspace))
      return { because: `it changes to the folder '${folder}' outside the workspace` }
  }
  if (use.repository === true && hasOddRepository(folder, workspace, disk))
    return { because: "git would find the settings of another repository" }
  const foreign = use.packages?.find(({ value }) => isForeign(placeIn(folder, value, disk), workspace, disk))
  if (foreign !== undefined) return { because: "it would run scripts of another repository or of a package of others" }
  const groups = [
    ["read", use.reads ?? []],
    ["write", use.writes ?? []],
    ["read", use.walks ?? []],
  ] as const
  for (const [kind, words] of groups) {
    for (const word of words) {
      const paths = expand(word, folder, disk)
      if (paths === undefined) return { because: `the pattern '${word.value}' stands for too many or hidden files` }
      const option = paths.find((path) => path.startsWith("-") && word.glob !== -1)
      if (option !== undefined) return { because: `the pattern '${word.value}' stands for '${option}'` }
      files.push(...paths.map((path) => ({ kind, path: placeIn(folder, path, disk) })))
    }
  }
  for (const { value } of use.tops ?? []) files.push({ kind: "read", path: placeIn(workspace, value, disk) })
  const walked = walkedFiles(use, folder, disk)
  if ("because" in walked) return walked
  const redirected = redirects.flatMap((redirect) => redirectFile(redirect, start, disk) ?? [])
  const guessed = (use.guesses ?? []).flatMap(pathsIn).filter((path) => looksLikePath(path, folder, disk))
  return [
    ...files,
    ...walked,
    ...redirected,
    ...guessed.map((path) => ({ kind: "read" as const, path: placeIn(folder, path, disk), guessed: true })),
  ]
}

/** Whether a folder of the workspace came from others: as a repository in the repository, or as an installed package. */
function isForeign(folder: string, workspace: string, disk: Disk): boolean {
  for (let place = disk.realpath(folder) ?? folder; place.length > workspace.length; place = posix.dirname(place))
    if (posix.basename(place) === "node_modules" || disk.names(place)?.includes(".git") !== false) return true
  return false
}

/** What is read when a folder is read with all that is in it. Programs that follow links on the way are not proved. */
function walkedFiles({ walks = [], hidden = false, unhides }: Use, folder: string, disk: Disk): NamedFile[] | Unread {
  const files: NamedFile[] = []
  for (const word of walks) {
    for (const value of expand(word, folder, disk) ?? []) {
      const place = placeIn(folder, value, disk)
      const tree = disk.tree(place, hidden)
      const more = unhides === undefined || tree === undefined ? [] : unhiddenIn([place, ...tree], unhides, disk)
      if (tree === undefined || more === undefined)
        return { because: `there is too much in '${value}' to look at; search_files needs no asking` }
      for (const path of [...tree, ...more]) files.push({ kind: "read", path })
    }
  }
  return files
}

function redirectFile({ operator, target }: Redirect, folder: string, disk: Disk): NamedFile | undefined {
  if (operator === "<<" || operator === "<<<" || operator === ">&" || operator === "<&") return undefined
  if (target.value === "/dev/null") return undefined
  const path = placeIn(folder, target.value, disk)
  return operator === "<" ? { kind: "read", path } : { kind: "write", path, redirected: true }
}

function looksLikePath(text: string, folder: string, disk: Disk): boolean {
  if (text.includes("/") || text.startsWith(".") || disk.isFile(posix.resolve(folder, text))) return true
  return /\.|file$|^id_/i.test(text) && (sealedBecause(text, "write") ?? carefulBecause(text, "write")) !== undefined
}

/** Each of them once. */
export function unique(files: readonly NamedFile[]): NamedFile[] {
  return [...new Map(files.map((file) => [`${file.kind} ${file.path}`, file])).values()]
}

/** What of a word may be a path: all of it, and what stands behind `=` or an option's letter. */
function pathsIn(word: string): string[] {
  if (word.includes("://")) return []
  const value = /^[^=/]*=(.*)$/.exec(word)?.[1]
  const candidates = word.startsWith("-") ? [value ?? "", word.slice(2)] : [word, value ?? ""]
  return candidates.filter((text) => text !== "" && !text.startsWith("-"))
}

/** Whether a path is the workspace or in it. */
export function isInside(path: string, workspace: string): boolean {
  return path === workspace || path.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`)
}
