import { dirname, resolve } from "node:path"
import { withHome } from "../../policy/paths-area.ts"
import { readProtected } from "../../policy/paths-ground.ts"
import { isThere, type Seal } from "./seals.ts"

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
  const answers = new Map<string, boolean>()
  return {
    isProtected(path, isFolder) {
      if (covers.length === 0) return false
      // Folders above something protected are covered too, so that none is moved away; what is in them is not.
      const asked = isFolder ? `${path}/${nobodysName}` : path
      let answer = answers.get(asked)
      if (answer === undefined) {
        if (answers.size > mostAnswers) answers.clear()
        answer = covers.some((covered) => covered(asked))
        answers.set(asked, answer)
      }
      return answer
    },
    seals: (wasAllSeen) =>
      fixed
        .filter(({ path, isWhole }) => (isWhole || !wasAllSeen) && isThere(path))
        .map(({ path }) => ({ path, meanwhile: null })),
  }
}

/** The same paths are asked about before and after every command. */
const mostAnswers = 20_000
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
