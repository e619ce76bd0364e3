import { chmodSync, closeSync, constants, fstatSync, openSync, readdirSync, type Dirent } from "node:fs"
import { onDisk, textOf } from "./byte-names.ts"

/** What a name stands for. */
export type Kind = "folder" | "link" | "file"

/**
 * The names in a folder; undefined where that cannot be said. What is closed to us by its mode is opened, or counts as
 * empty, so that all is new that is found in it later.
 */
export function kindsIn(folder: string, mayOpen: boolean): Map<string, Kind> | undefined {
  try {
    return readKinds(onDisk(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return undefined
    if (!mayOpen) return new Map()
  }
  try {
    openUp(onDisk(folder))
    return readKinds(onDisk(folder))
  } catch {
    return undefined
  }
}

function readKinds(folder: string | Buffer): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  let isExact = true
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    kinds.set(entry.name, kindOf(entry))
    // What is no UTF-8 was replaced by this sign.
    if (entry.name.includes("\ufffd")) isExact = false
  }
  if (isExact) return kinds
  const exact = readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
  return new Map(exact.map((entry) => [textOf(entry.name), kindOf(entry)]))
}

/** Gives its owner the right to look into a folder. Through a descriptor, because no link at its end may be followed. */
function openUp(folder: string | Buffer): void {
  const descriptor = openSync(folder, asPlace | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, (fstatSync(descriptor).mode & 0o7777) | 0o500)
  } finally {
    closeSync(descriptor)
  }
}

/** O_PATH: the folder is only named, not read; Node has no name for it. */
const asPlace = 0o10000000

function kindOf(entry: Dirent<string | Buffer>): Kind {
  if (entry.isDirectory()) return "folder"
  return entry.isSymbolicLink() ? "link" : "file"
}
