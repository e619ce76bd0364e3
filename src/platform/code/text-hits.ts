import type { CodeSearch } from "./code.ts"
import type { Hit } from "./best-matches.ts"
import { mayMatch, foldCase, type Matcher } from "./matcher.ts"

const identifier = /[\p{ID_Start}_$][\p{ID_Continue}$]*/gu
const maxHits = 200
const maxLineLength = 10_000

/**
 * The first matching identifier of each line. Its kind is not known, so a search for functions, classes or variables
 * finds it too.
 */
export function textHits(
  path: string,
  language: string,
  text: string,
  matcher: Matcher,
  { type }: Pick<CodeSearch, "type">,
): Hit[] {
  if (type === "file") return []
  const hits: Hit[] = []
  let line = -1
  for (const content of text.split("\n")) {
    line++
    if (content.length > maxLineLength) continue
    for (const found of content.matchAll(identifier)) {
      const lower = foldCase(found[0])
      const rank = mayMatch(lower, matcher) ? matcher.name(found[0], lower) : undefined
      if (rank === undefined) continue
      hits.push({
        path,
        language,
        rank: rank + 10,
        kind: "text",
        method: "search",
        name: found[0],
        line,
        column: found.index,
      })
      break
    }
    if (hits.length === maxHits) return hits
  }
  return hits
}
