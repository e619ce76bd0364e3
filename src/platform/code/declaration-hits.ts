import type { CodeSearch } from "./code.ts"
import type { Hit } from "./best-matches.ts"
import type { IndexedFile } from "./folder-index.ts"
import { matchesType, mayMatch, foldCase, type Matcher } from "./matcher.ts"
import { outlineKinds, type Outline } from "./outline.ts"

/** The matching declarations of a file. */
export function declarationHits(file: IndexedFile, outline: Outline, matcher: Matcher, search: CodeSearch): Hit[] {
  if (!mayMatch(file.names!, matcher)) return []
  const names = outline.names.split("\n")
  const hits: Hit[] = []
  const { numbers } = outline
  file.names!.split("\n").forEach((lower, index) => {
    if (!mayMatch(lower, matcher)) return
    const kind = outlineKinds[numbers[index * 4 + 2]!]
    if (kind === undefined || kind === "scope" || !matchesType(kind, search.type)) return
    const name = names[index]!
    const rank = matcher.name(name, lower)
    if (rank === undefined) return
    const container = containerOf(names, numbers, index)
    if (matcher.owner !== undefined && !isInside(container, matcher.owner)) return
    const [line, column] = [numbers[index * 4]!, numbers[index * 4 + 1]!]
    const { path, source } = file
    hits.push({ path, rank, kind, language: source.language, method: "syntax", name, line, column, container })
  })
  return hits
}

function containerOf(names: readonly string[], numbers: Int32Array, index: number): string | undefined {
  const chain: string[] = []
  for (let at = numbers[index * 4 + 3]!; at >= 0 && chain.length < 5; at = numbers[at * 4 + 3]!)
    chain.unshift(names[at]!)
  return chain.length === 0 ? undefined : chain.join(".")
}

function isInside(container: string | undefined, owner: string): boolean {
  const lower = foldCase(container ?? "")
  return lower === owner || lower.endsWith(`.${owner}`)
}
