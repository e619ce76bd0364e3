import { readdirSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { readGlob } from "../../lib/glob.ts"
import { expandHome } from "../../guards/paths/allowed-path.ts"
import { protectedPathMatcher } from "../../guards/paths/path-policy.ts"
import { foldName } from "../../guards/paths/path-text.ts"
import { pathExists, type ProtectedPath } from "./protected-mounts.ts"

/** `tools.protectedPaths`, applied to commands. */
export interface ProtectedPatterns {
  /** A folder is protected if everything in it would be. */
  isProtected(path: string, isFolder: boolean): boolean
  /** The paths of patterns that are more than a single name. */
  paths(): ProtectedPath[]
}

export function readProtectedPatterns(
  patterns: readonly string[],
  { workspace, home }: { workspace: string; home?: string },
): ProtectedPatterns {
  const matchers = patterns.map((pattern) => protectedPathMatcher(pattern, workspace, home))
  return {
    // The matcher also covers folders above a protected path, so that they are not moved away. To know whether the
    // content of a folder is protected, ask for a name in it that no pattern means.
    isProtected: (path, isFolder) => matchers.some((matches) => matches(isFolder ? `${path}/${unusedName}` : path)),
    paths: () => patterns.flatMap((pattern) => pathsOf(expandHome(pattern, home), workspace)),
  }
}

const unusedName = "\u0001"

/** A single name holds in every folder, so it has no path. A pattern that ends with `**` protects the folder before it. */
function pathsOf(pattern: string, workspace: string): ProtectedPath[] {
  const written = pattern.replace(/\/+$/, "").replace(/\/\*\*$/, "")
  if (!written.includes("/") && written === pattern) return []
  const start = isAbsolute(written) ? "/" : workspace
  const steps = relative(start, resolve(start, written)).split("/")
  if (steps.some((step) => wild.test(step)))
    return expanded(start, steps).flatMap((path) => (path !== workspace && pathExists(path) ? [{ path }] : []))
  const path = join(start, ...steps)
  return pathExists(dirname(path)) ? [{ path: pathExists(path) ? path : `${path}/` }] : []
}

const wild = /[*?[\]{}\\!]/
const maxPaths = 1000

function expanded(start: string, steps: readonly string[]): string[] {
  let found = [start]
  for (const step of steps) {
    const read = readGlob(foldName(step), "path")
    if (step.includes("**") || "mistake" in read) return found
    const { matches } = read.glob
    const matching = found.flatMap((folder) =>
      wild.test(step)
        ? namesIn(folder).flatMap((name) => (matches(foldName(name)) ? [join(folder, name)] : []))
        : [join(folder, step)],
    )
    if (matching.length > maxPaths) return found
    found = matching
  }
  return found
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
