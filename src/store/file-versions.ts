import { lstatSync, readdirSync, type BigIntStats } from "node:fs"
import { join, resolve } from "node:path"
import type { Touch, Touches } from "../model/rule.ts"

/** A file changed later than this could change again without another time: the kernel's clock has ticks. */
const settledMs = 50
/** A folder with more entries costs too much to look at. */
const mostEntries = 2000

/**
 * Device, inode, times and size of every touched file, as one text that changes with the content of a file; of a folder
 * whose entries are read, those of each entry. Undefined when a touch is anything else, or a file has only just changed.
 */
export function fileVersions(touches: Touches, folder: string): string | undefined {
  const versions: string[] = []
  for (const touch of touches.list) {
    const version = versionOf(touch, resolve(folder, touch.what))
    if (version === undefined) return undefined
    versions.push(version)
  }
  return versions.join(",")
}

function versionOf({ kind, entries }: Touch, path: string): string | undefined {
  if (kind !== "read") return undefined
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined || !isSettled(stat)) return undefined
  if (stat.isFile()) return stampOf(stat)
  return stat.isDirectory() && entries === true ? folderVersion(path, stat) : undefined
}

/** Undefined with a link in it, which does not show changes of its target. */
function folderVersion(path: string, stat: BigIntStats): string | undefined {
  const names = readdirSync(path)
  if (names.length > mostEntries) return undefined
  const versions = [stampOf(stat)]
  for (const name of names) {
    const entry = lstatSync(join(path, name), { bigint: true, throwIfNoEntry: false })
    if (entry === undefined || entry.isSymbolicLink() || !isSettled(entry)) return undefined
    versions.push(`${name}/${stampOf(entry)}`)
  }
  return versions.join("/")
}

function isSettled({ ctimeMs }: BigIntStats): boolean {
  return Math.abs(Date.now() - Number(ctimeMs)) >= settledMs
}

function stampOf({ dev, ino, mode, mtimeNs, ctimeNs, size }: BigIntStats): string {
  return `${dev}:${ino}:${mode}:${mtimeNs}:${ctimeNs}:${size}`
}
