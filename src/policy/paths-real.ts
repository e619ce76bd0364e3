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
  return !path.endsWith("..") && !path.endsWith(".") && linkAt(path) === null && dirname(path) !== path
}

function inReal(folder: string, name: string): string | undefined {
  const real = realPlace(folder)
  return real === undefined ? undefined : join(real, name)
}

const mostLinks = 40

function followByHand(path: string): string | undefined {
  const { root } = parse(path)
  let here = root
  const ahead = stepsOf(path.slice(root.length))
  for (let links = 0; ahead.length > 0;) {
    const step = ahead.pop()!
    if (step === "..") {
      here = dirname(here)
      continue
    }
    const next = here.endsWith(sep) ? here + step : here + sep + step
    const target = linkAt(next)
    if (target === undefined || ++links > mostLinks) return undefined
    if (target === null) {
      links--
      here = next
    } else {
      if (isAbsolute(target)) here = parse(target).root
      ahead.push(...stepsOf(target.slice(isAbsolute(target) ? here.length : 0)))
    }
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

/** Where the link leads; null for what is no link, or not there; undefined when it cannot be said. */
function linkAt(path: string): string | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return undefined
  }
}
