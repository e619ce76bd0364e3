import { dirname, resolve } from "node:path"
import { withHome } from "../../policy/paths-area.ts"
import { readProtected } from "../../policy/paths-ground.ts"
import type { Seal } from "./seals.ts"
import { isThere } from "./seals.ts"

/** `tools.protectedPaths`, for what commands do. */
export interface Protection {
  /** A folder counts when everything in it would. */
  isProtected(path: string, isFolder: boolean): boolean
  /** What needs no looking for: paths without a wildcard. Where not all could be looked at, the folders patterns begin in. */
  seals(wasAllSeen: boolean): Seal[]
}

export function readProtection(
  patterns: readonly string[],
  { workspace, home }: { workspace: string; home?: string | undefined },
): Protection {
  const covers = patterns.map((pattern) => readProtected(pattern, workspace, home))
  const fixed = patterns.flatMap((pattern) => fixedPart(withHome(pattern, home), workspace))
  return {
    isProtected(path, isFolder) {
      // Folders above something protected are covered too, so that none is moved away; what is in them is not.
      const asked = isFolder ? `${path}/${nobodysName}` : path
      return covers.some((covered) => covered(asked))
    },
    seals: (wasAllSeen) =>
      fixed
        .filter(({ path, isWhole }) => (isWhole || !wasAllSeen) && isThere(path))
        .map(({ path }) => ({ path, meanwhile: null })),
  }
}

const nobodysName = "\u0001"

/** A name alone counts everywhere, so it has none. */
function fixedPart(pattern: string, workspace: string): { path: string; isWhole: boolean }[] {
  const written = pattern.replace(/\/+$/, "").replace(/\/\*\*$/, "")
  if (!written.includes("/") && written === pattern) return []
  const start = /^[^*?[\]{}\\!]*/.exec(written)?.[0] ?? ""
  const isWhole = start === written
  const path = resolve(workspace, isWhole ? start : dirname(`${start}x`))
  return path === workspace ? [] : [{ path, isWhole }]
}
