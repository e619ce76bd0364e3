import type { CodeSearch } from "../../model/code.ts"
import type { Hit } from "./answer.ts"
import type { Kept } from "./keeper.ts"
import { fitsType, mayFit, small, type Matcher } from "./matcher.ts"
import { kinds, type Outline } from "./outline.ts"

/** The declarations of a file that fit. */
export function declaredHits(kept: Kept, outline: Outline, matcher: Matcher, search: CodeSearch): Hit[] {
  if (!mayFit(kept.names!, matcher)) return []
  const names = outline.names.split("\n")
  const hits: Hit[] = []
  const { numbers } = outline
  kept.names!.split("\n").forEach((lower, place) => {
    if (!mayFit(lower, matcher)) return
    const kind = kinds[numbers[place * 4 + 2]!]
    if (kind === undefined || kind === "scope" || !fitsType(kind, search.type)) return
    const name = names[place]!
    const rank = matcher.name(name, lower)
    if (rank === undefined) return
    const container = containerOf(names, numbers, place)
    if (matcher.owner !== undefined && !standsIn(container, matcher.owner)) return
    const [line, column] = [numbers[place * 4]!, numbers[place * 4 + 1]!]
    const { path, reading } = kept
    hits.push({ path, rank, kind, language: reading.language, method: "syntax", name, line, column, container })
  })
  return hits
}

function containerOf(names: readonly string[], numbers: Int32Array, place: number): string | undefined {
  const chain: string[] = []
  for (let at = numbers[place * 4 + 3]!; at >= 0 && chain.length < 5; at = numbers[at * 4 + 3]!)
    chain.unshift(names[at]!)
  return chain.length === 0 ? undefined : chain.join(".")
}

function standsIn(container: string | undefined, owner: string): boolean {
  const lower = small(container ?? "")
  return lower === owner || lower.endsWith(`.${owner}`)
}
