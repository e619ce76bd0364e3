import { lstatSync, readlinkSync, realpathSync } from "node:fs"
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path"

/**
 * The real path with all links followed, also for a file that does not exist yet: where a write would create it.
 * Undefined when links go in circles or a folder cannot be read.
 */
export function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ELOOP" || code === "EACCES") return undefined
    return isMissing(path) ? joinToReal(dirname(path), basename(path)) : followStepByStep(path)
  }
}

/** Reports whether nothing exists at the path, not even a broken link. */
function isMissing(path: string): boolean {
  return !path.split(sep).includes("..") && entryAt(path) === undefined && dirname(path) !== path
}

function joinToReal(folder: string, name: string): string | undefined {
  const real = resolveLinks(folder)
  return real === undefined ? undefined : join(real, name)
}

const maxLinks = 40

function followStepByStep(path: string): string | undefined {
  let { root: here } = parse(path)
  let isFolder = true
  const remaining = stepsOf(path.slice(here.length))
  for (let links = 0; remaining.length > 0;) {
    const step = remaining.pop()!
    if (step === "..") {
      // `..` needs an existing folder.
      if (!isFolder) return undefined
      here = dirname(here)
      continue
    }
    const next = here.endsWith(sep) ? here + step : here + sep + step
    const found = entryAt(next)
    if (found === "unreadable") return undefined
    if (found?.link === undefined) {
      here = next
      isFolder = found?.isFolder ?? false
      continue
    }
    if (++links > maxLinks) return undefined
    if (isAbsolute(found.link)) here = parse(found.link).root
    remaining.push(...stepsOf(found.link.slice(isAbsolute(found.link) ? here.length : 0)))
  }
  return here
}

/** The steps of a path in reverse order, so that `pop` takes the first. */
function stepsOf(path: string): string[] {
  return path
    .split(sep)
    .filter((step) => step !== "" && step !== ".")
    .toReversed()
}

interface Entry {
  readonly isFolder: boolean
  /** The target of a link. */
  readonly link: string | undefined
}

/** The entry at a path, links not followed; undefined when nothing exists there. */
function entryAt(path: string): Entry | "unreadable" | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found && { isFolder: found.isDirectory(), link: found.isSymbolicLink() ? readlinkSync(path) : undefined }
  } catch {
    return "unreadable"
  }
}
