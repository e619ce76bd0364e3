import { relative, sep } from "node:path"

/** Reports whether a path is that folder or inside it. Both are real paths. */
export function isWithin(path: string, folder: string): boolean {
  const steps = relative(folder, path)
  return steps === "" || (steps !== ".." && !steps.startsWith(`..${sep}`))
}
