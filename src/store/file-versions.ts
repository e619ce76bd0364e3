import { lstatSync } from "node:fs"
import { resolve } from "node:path"
import type { Touches } from "../model/rule.ts"

/** Device, number, time and size of every file that is touched: another content has another text. No plain file, no text. */
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
