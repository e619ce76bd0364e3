import type { Files } from "../../platform/files/file-access.ts"
import { entryOf, type EntryOptions, type ShownMatch } from "./search-entries.ts"
import type { FoundFile } from "./search-page.ts"
import type { MatchLine, MatchRange } from "./search-match-lines.ts"
import type { SearchRoot } from "./search-root.ts"
import { searchAgain, type FileSearchResult, type Search } from "./search-run.ts"
import { withFileText } from "./search-text.ts"

export interface ShownMatches {
  readonly matches: ShownMatch[]
  readonly total: number
  readonly fileCount: number
  readonly truncated: boolean
  readonly nextOffset?: number
}

/** The requested page of matches. */
export async function showMatches(
  files: Files,
  search: Search,
  { page, hasMatchLines }: FileSearchResult,
): Promise<ShownMatches> {
  const { root, given } = search
  const { offset, limit } = given
  const context = given.context ?? 0
  const options = { ...given, before: given.before ?? context, after: given.after ?? context }
  const needed = filesBetween(page.first(), offset, offset + limit)
  const again = hasMatchLines ? undefined : await searchAgain(search, rangesOf(needed, search))
  const matches: ShownMatch[] = []
  let { total, fileCount } = page
  let next = Math.min(offset, total)
  for (const { file, count, before, matchLines } of needed) {
    if (again !== undefined && !again.has(file)) {
      total -= count
      fileCount -= 1
      continue
    }
    const inside = (again?.get(file) ?? matchLines).filter(({ index }) =>
      isBetween(before + index, offset, offset + limit),
    )
    matches.push(...(await entriesOf(files, root, file, inside, options)))
    // Matches that cannot be shown, because the file changed or the line is too long, are skipped.
    const last = inside.at(-1)
    next = Math.max(next, Math.min(before + count, offset + limit), last ? before + last.index + last.count : 0)
  }
  const truncated = next < total
  return { matches, total, fileCount, truncated, ...(truncated ? { nextOffset: next } : {}) }
}

/** Empty if the file has changed since it was searched. */
async function entriesOf(
  files: Files,
  root: SearchRoot,
  file: string,
  matchLines: readonly MatchLine[],
  options: EntryOptions,
): Promise<ShownMatch[]> {
  const shown = await withFileText(files, file, root, async (around) => {
    const entries: ShownMatch[] = []
    for (const matchLine of matchLines) {
      const part = await around(matchLine.at, matchLine.at + matchLine.length, options)
      if (part === undefined) continue
      const entry = entryOf(file, matchLine, part, options)
      if (entry === undefined) return []
      entries.push(entry)
    }
    return entries
  })
  return shown ?? []
}

interface NeededFile extends FoundFile {
  /** The number of matches in the files before it. */
  readonly before: number
}

function filesBetween(found: readonly FoundFile[], from: number, to: number): NeededFile[] {
  const between: NeededFile[] = []
  let before = 0
  for (const file of found) {
    if (before >= to) break
    if (before + file.count > from) between.push({ ...file, before })
    before += file.count
  }
  return between
}

/** Begins one match early, to know whether a line was shown on the previous page. */
function rangesOf(needed: readonly NeededFile[], { given: { offset, limit, onlyMatching } }: Search) {
  const range = (before: number): MatchRange => ({
    from: Math.max(0, offset - before - 1),
    to: offset + limit - before,
    separate: onlyMatching,
  })
  return new Map(needed.map(({ file, before }) => [file, range(before)]))
}

function isBetween(number: number, from: number, to: number): boolean {
  return number >= from && number < to
}
