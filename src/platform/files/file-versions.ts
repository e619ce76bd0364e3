import { lstatSync } from "node:fs"
import { resolve } from "node:path"
import type { Touches } from "../../core/touches.ts"

/**
 * Device, inode, times and size of every touched file, as one text that changes with the content of a file. Undefined when
 * a touch is not the read of a regular file.
 */
export function fileVersions(touches: Touches, folder: string): string | undefined {
  const versions: string[] = []
  for (const { kind, what } of touches.list) {
    if (kind !== "read") return undefined
    const stat = lstatSync(resolve(folder, what), { bigint: true, throwIfNoEntry: false })
    if (stat?.isFile() !== true) return undefined
    versions.push(`${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.size}`)
  }
  return versions.join(",")
}
