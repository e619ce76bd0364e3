import type { BigIntStats } from "node:fs"
import type { FileFacts, FileVersion } from "./file-access.ts"

/** Changes with the content, unless the clock is set back on purpose. */
export function versionOf({ dev, ino, mtimeNs, ctimeNs, size }: BigIntStats): FileVersion {
  return `${dev}:${ino}:${mtimeNs}:${ctimeNs}:${size}`
}

export function factsOf(stat: BigIntStats, real: string, path: string): FileFacts {
  return {
    kind: kindOf(stat),
    size: Number(stat.size),
    modifiedAt: Number(stat.mtimeNs) / 1e6,
    createdAt: Number(stat.birthtimeNs) / 1e6,
    accessedAt: Number(stat.atimeNs) / 1e6,
    mode: Number(stat.mode & 0o7777n),
    links: Number(stat.nlink),
    version: versionOf(stat),
    real,
    path,
  }
}

interface Kinds {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

export function kindOf(found: Kinds): FileFacts["kind"] {
  if (found.isFile()) return "file"
  if (found.isDirectory()) return "folder"
  return found.isSymbolicLink() ? "link" : "special"
}
