import { dirname } from "node:path"
import type { PathPolicy } from "./path-policy.ts"
import { hasListedChildren } from "./path-lists.ts"
import { foldPath } from "./path-text.ts"

/**
 * A fast `policy.isShown` for many normalized paths relative to the workspace: the answer for a folder is cached and
 * used for all ordinary names in it.
 */
export function fastIsShown(policy: PathPolicy, privatePaths: readonly string[]): (path: string) => boolean {
  const foldersWithPrivatePaths = new Set(privatePaths.map((path) => foldPath(dirname(path))))
  const base = foldPath(policy.workspace)
  const cache = new Map<string, boolean | undefined>()
  const isShown = (path: string): boolean => {
    const absolute = policy.resolve(path)
    return typeof absolute === "string" && policy.isShown(absolute)
  }
  /** The answer for every ordinary name in the folder; undefined when each name must be checked. */
  const checkFolder = (folder: string): boolean | undefined => {
    if (hasDots.test(folder)) return undefined
    if (foldersWithPrivatePaths.has(folder === "" ? base : `${base}/${foldPath(folder)}`) || hasListedChildren(folder))
      return undefined
    const slash = folder.lastIndexOf("/")
    const parentAnswer = ordinaryFolder.test(folder.slice(slash + 1))
      ? shownIn(folder.slice(0, Math.max(0, slash)))
      : undefined
    return parentAnswer ?? isShown(folder === "" ? ordinaryName : `${folder}/${ordinaryName}`)
  }
  const shownIn = (folder: string): boolean | undefined => {
    const shown = cache.get(folder)
    if (shown !== undefined || cache.has(folder)) return shown
    if (cache.size >= maxFolders) cache.clear()
    const result = checkFolder(folder)
    cache.set(folder, result)
    return result
  }
  // Callers list one folder after another, so the last folder is usually the right one.
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

/** Reports whether the name is certainly on no list for reading. For every other name the full check runs. */
function isOrdinary(name: string): boolean {
  return ordinary.test(name) || (ordinaryData.test(name) && !secretWords.test(name))
}

const maxFolders = 100_000
const ordinaryName = "x.txt"
/** A path that is absolute or not normalized. */
const hasDots = /(^|\/)\.{1,2}(\/|$)|^\/|\/\/|\/$/
const ordinaryFolder = /^(?!cvs$)[a-z0-9_][\w-]*$/i
const ordinary = /^(?!id_)[a-z0-9_][\w-]*(\.[\w-]+)*\.(tsx?|[cm]?[jt]s|jsx|md|mdx|txt|py|rs|go|java|kt|cc?|cpp|h|hpp|cs|rb|php|swift|html?|css|scss|less|vue|svelte|sh|sql|svg|png|jpe?g|gif|map|snap|lock|proto|log)$/i // prettier-ignore
const ordinaryData = /^[a-z0-9_][\w-]*(\.[\w-]+)*\.(json|ya?ml|toml|xml|csv|ini)$/i
const secretWords = /^id_|credential|secret|auth|setting|token|service|client|gcp|key|netrc/i
