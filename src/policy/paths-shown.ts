import { dirname } from "node:path"
import type { Ground } from "./paths-ground.ts"
import { isFolderOfPairs } from "./paths-lists.ts"
import { foldPath } from "./paths-text.ts"

/**
 * `ground.isShown` for very many paths from the workspace in their normal form: what is known of a folder counts for the
 * ordinary names in it. `sealed` are the places that are sealed by themselves.
 */
export function quickShown(ground: Ground, sealed: readonly string[]): (path: string) => boolean {
  const holdSealed = new Set(sealed.map((place) => foldPath(dirname(place))))
  const base = foldPath(ground.workspace)
  const known = new Map<string, boolean | undefined>()
  const isShown = (path: string): boolean => {
    const place = ground.place(path)
    return typeof place === "string" && ground.isShown(place)
  }
  /** What counts for every ordinary name in the folder; undefined when each must be looked at. */
  const lookInto = (folder: string): boolean | undefined => {
    if (hasDots.test(folder)) return undefined
    if (holdSealed.has(folder === "" ? base : `${base}/${foldPath(folder)}`) || isFolderOfPairs(folder))
      return undefined
    const slash = folder.lastIndexOf("/")
    const above = ordinaryFolder.test(folder.slice(slash + 1))
      ? shownIn(folder.slice(0, Math.max(0, slash)))
      : undefined
    return above ?? isShown(folder === "" ? ordinaryName : `${folder}/${ordinaryName}`)
  }
  const shownIn = (folder: string): boolean | undefined => {
    const shown = known.get(folder)
    if (shown !== undefined || known.has(folder)) return shown
    if (known.size >= mostFolders) known.clear()
    const found = lookInto(folder)
    known.set(folder, found)
    return found
  }
  // Files of one folder come after each other.
  let last = ""
  let shownInLast = shownIn(last)
  return (path) => {
    const slash = path.lastIndexOf("/")
    if (slash === 0 || !isOrdinary(path.slice(slash + 1))) return isShown(path)
    const length = Math.max(0, slash)
    if (length !== last.length || !path.startsWith(last)) {
      last = path.slice(0, length)
      shownInLast = shownIn(last)
    }
    return shownInLast ?? isShown(path)
  }
}

/** Whether a name is on no list for reading, to be seen at a glance; all others are looked at. */
function isOrdinary(name: string): boolean {
  return ordinary.test(name) || (ordinaryData.test(name) && !secretWords.test(name))
}

const mostFolders = 100_000
const ordinaryName = "x.txt"
/** A path that is not in its normal form, or is from the root. */
const hasDots = /(^|\/)\.{1,2}(\/|$)|^\/|\/\/|\/$/
const ordinaryFolder = /^(?!cvs$)[a-z0-9_][\w-]*$/i
const ordinary = /^(?!id_)[a-z0-9_][\w-]*(\.[\w-]+)*\.(tsx?|[cm]?[jt]s|jsx|md|mdx|txt|py|rs|go|java|kt|cc?|cpp|h|hpp|cs|rb|php|swift|html?|css|scss|less|vue|svelte|sh|sql|svg|png|jpe?g|gif|map|snap|lock|proto|log)$/i // prettier-ignore
const ordinaryData = /^[a-z0-9_][\w-]*(\.[\w-]+)*\.(json|ya?ml|toml|xml|csv|ini)$/i
const secretWords = /^id_|credential|secret|auth|setting|token|service|client|gcp|key|netrc/i
