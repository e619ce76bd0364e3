import { posix } from "node:path"

/** A folder of the workspace as agents have it: relative to it, without `..` and wildcards. Undefined if it is none. */
export function workspaceFolder(given: string): string | undefined {
  const path = posix.normalize(given).replace(/\/+$/, "")
  const isInside = !posix.isAbsolute(path) && path !== ".." && !path.startsWith("../") && !/[*?[\]{}\0\\]/.test(path)
  return isInside ? path : undefined
}
