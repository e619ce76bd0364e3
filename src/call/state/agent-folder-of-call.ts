import { isAbsolute, posix, relative, sep } from "node:path"
import { isInFolder } from "../../lib/is-in-folder.ts"

/**
 * The paths that a call may use: the folder of its agent, where it has one. `asked`, the paths that the request names, can
 * only narrow it: what lies outside the folder is left out, and a wider path becomes the folder.
 */
export function allowedPathsOf(
  folder: string | undefined,
  asked: readonly string[] | undefined,
  workspace: string,
): readonly string[] | undefined {
  if (folder === undefined) return asked
  if (asked === undefined) return [folder]
  return asked.flatMap((path) => {
    const inside = isAbsolute(path) ? relative(workspace, path).split(sep).join("/") : path
    const plain = posix.normalize(inside || ".").replace(/\/(\*\*)?$/, "")
    if (isInFolder(plain, folder)) return [path]
    return isInFolder(folder, plain) ? [folder] : []
  })
}
