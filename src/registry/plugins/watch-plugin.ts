import { watch } from "node:fs"
import { basename, dirname } from "node:path"
import type { FoundPlugin } from "./find-plugin.ts"

/** Delay after a change: editors write in several steps. */
const quietMs = 50

/**
 * Calls `changed` when the plugin's file, or a file in its folder, changes. Returns a function that stops watching. It watches
 * the folder and not the file, because editors replace files.
 */
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
