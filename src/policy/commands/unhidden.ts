import { posix } from "node:path"
import { readPlain } from "../plain-file.ts"
import { placeIn, type Disk, type Entry } from "./disk.ts"
import { fitsPattern } from "./find-names.ts"

/** Files that tell rg what to leave out and, by lines that begin with `!`, which hidden files to read after all. */
const ignoreFiles = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"]
const mostBytes = 1_000_000

/**
 * What is hidden in these folders and read by rg all the same, with all that is in it and rather too much; undefined
 * when there is too much to look at. The first folder is the one it begins with; `names` are those of files only.
 */
export function unhiddenIn(
  folders: readonly string[],
  names: readonly string[],
  disk: Disk,
): readonly string[] | undefined {
  const patterns = [...new Set([...above(folders[0]!, disk), ...folders].flatMap(patternsIn))]
  const found: string[] = []
  if (patterns.length + names.length === 0) return found
  const [isBack, isNamed] = [patterns, names].map(fitting)
  for (const folder of folders) {
    const entries = disk.entries(folder)
    if (entries === undefined) return undefined
    for (const entry of entries) {
      if (!entry.name.startsWith(".") || entry.kind === "link") continue
      if (!isBack!(entry) && (entry.kind === "folder" || !isNamed!(entry))) continue
      const path = posix.join(folder, entry.name)
      const tree = disk.tree(path, true)
      if (tree === undefined) return undefined
      found.push(path, ...tree)
    }
  }
  return found
}

function fitting(patterns: readonly string[]): (entry: Entry) => boolean {
  const tests = patterns.map((pattern) => fitsPattern(pattern, true, "name"))
  return (entry) => tests.some((one) => one.kind !== "name" || one.fits(entry, entry.name) !== "no")
}

/** The folders that a folder is in, down to the root of the disk. */
function above(folder: string, disk: Disk): string[] {
  const found: string[] = []
  for (let next = placeIn(folder, ".", disk); next !== "/"; found.push(next)) next = posix.dirname(next)
  return found
}

/** What the last part of a name must fit to be read after all, for all lines of the ignore files in a folder. */
function patternsIn(folder: string): string[] {
  return ignoreFiles.flatMap((name) => {
    const text = textOf(posix.join(folder, name))
    const lines = [...text.matchAll(/^\uFEFF?!(.*)$/gm)].map(([, line]) => line!.trimEnd().replace(/\/+$/, ""))
    return lines.map((line) => line.slice(line.lastIndexOf("/") + 1) || "*").filter(mayFitHidden)
  })
}

function mayFitHidden(step: string): boolean {
  return !/^[\w@+,=: -][\w.@+,=: -]*$/.test(step)
}

/** A file that cannot be looked at may say anything. rg follows links to it, so they are followed. */
function textOf(path: string): string {
  try {
    return readPlain(path, { most: mostBytes, follows: true })
  } catch (error) {
    return ["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? "" : "!*"
  }
}
