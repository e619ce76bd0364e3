/**
 * Reports whether a path is a folder or lies below it. Both are relative to the same place, without `..` and `/` at the
 * end.
 */
export function isInFolder(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`)
}
