import { lstatSync, readlinkSync, realpathSync } from "node:fs"
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path"

/**
 * Where a path leads, links followed, also when there is nothing yet: what a write there would make. Undefined when that
 * cannot be said, because links go in circles or a folder cannot be looked into.
 */
export function realPlace(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ELOOP" || code === "EACCES") return undefined
    return isMissing(path) ? inReal(dirname(path), basename(path)) : followByHand(path)
  }
}

/** Whether there is not even a link. */
function isMissing(path: string): boolean {
  return !path.split(sep).includes("..") && lookAt(path) === undefined && dirname(path) !== path
}

function inReal(folder: string, name: string): string | undefined {
  const real = realPlace(folder)
  return real === undefined ? undefined : join(real, name)
}

const mostLinks = 40

function followByHand(path: string): string | undefined {
  let { root: here } = parse(path)
  let isFolder = true
  const ahead = stepsOf(path.slice(here.length))
  for (let links = 0; ahead.length > 0;) {
    const step = ahead.pop()!
    if (step === "..") {
      // Out of what is not there, or is no folder, nothing leads.
      if (!isFolder) return undefined
      here = dirname(here)
      continue
    }
    const next = here.endsWith(sep) ? here + step : here + sep + step
    const found = lookAt(next)
    if (found === "closed") return undefined
    if (found?.link === undefined) {
      here = next
      isFolder = found?.isFolder ?? false
      continue
    }
    if (++links > mostLinks) return undefined
    if (isAbsolute(found.link)) here = parse(found.link).root
    ahead.push(...stepsOf(found.link.slice(isAbsolute(found.link) ? here.length : 0)))
  }
  return here
}

/** The steps of a path, the first one last. */
function stepsOf(path: string): string[] {
  return path
    .split(sep)
    .filter((step) => step !== "" && step !== ".")
    .toReversed()
}

interface Found {
  readonly isFolder: boolean
  /** Where it leads, if it is a link. */
  readonly link: string | undefined
}

/** What is at a path itself; undefined when nothing is. */
function lookAt(path: string): Found | "closed" | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found && { isFolder: found.isDirectory(), link: found.isSymbolicLink() ? readlinkSync(path) : undefined }
  } catch {
    return "closed"
  }
}
