import { watch } from "node:fs"
import { basename, dirname } from "node:path"
import type { FoundPlugin } from "./find.ts"

/** How long it must be quiet after a change: an editor writes in several steps. */
const quietMs = 50

/** Tells when a plugin's file changes, or one of its folder; returns what ends it. The folder is watched, since files are replaced. */
export function watchPlugin({ file, folder }: FoundPlugin, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(changed, quietMs)
  }
  const watcher = watch(folder ?? dirname(file), { recursive: folder !== undefined, persistent: false }, (_, name) => {
    if (folder !== undefined || name === null || name === basename(file)) soon()
  })
  watcher.on("error", () => {})
  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}
