import type { CodeSearch } from "../../model/code.ts"
import type { Hit } from "./answer.ts"
import { mayFit, small, type Matcher } from "./matcher.ts"

const identifier = /[\p{ID_Start}_$][\p{ID_Continue}$]*/gu
const mostHits = 200
const longestLine = 10_000

/**
 * Lines of a text whose identifiers fit, the first on each. What they are is not known, so that a search for functions,
 * classes or variables finds them too.
 */
export function plainHits(
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
    if (content.length > longestLine) continue
    for (const found of content.matchAll(identifier)) {
      const lower = small(found[0])
      const rank = mayFit(lower, matcher) ? matcher.name(found[0], lower) : undefined
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
    if (hits.length === mostHits) return hits
  }
  return hits
}
