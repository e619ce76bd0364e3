import type { Files } from "../../model/files.ts"
import { entryOf, type EntryOptions, type ShownMatch } from "./search-entries.ts"
import type { FoundFile } from "./search-page.ts"
import type { Place, Wanted } from "./search-places.ts"
import type { SearchRoot } from "./search-root.ts"
import { searchAgain, type Found, type Search } from "./search-run.ts"
import { withText } from "./search-text.ts"

export interface ShownMatches {
  readonly matches: ShownMatch[]
  readonly total: number
  readonly fileCount: number
  readonly truncated: boolean
  readonly nextOffset?: number
}

/** The matches from `offset` on, of the files they are in. */
export async function showMatches(files: Files, search: Search, { page, hasPlaces }: Found): Promise<ShownMatches> {
  const { root, given } = search
  const { offset, limit } = given
  const context = given.context ?? 0
  const options = { ...given, before: given.before ?? context, after: given.after ?? context }
  const needed = filesBetween(page.first(), offset, offset + limit)
  const again = hasPlaces ? undefined : await searchAgain(search, wantedOf(needed, search))
  const matches: ShownMatch[] = []
  let { total, fileCount } = page
  let next = Math.min(offset, total)
  for (const { file, count, before, places: kept } of needed) {
    if (again !== undefined && !again.has(file)) {
      total -= count
      fileCount -= 1
      continue
    }
    const inside = (again?.get(file) ?? kept).filter(({ index }) => isBetween(before + index, offset, offset + limit))
    matches.push(...(await entriesOf(files, root, file, inside, options)))
    // What is not shown, because it has changed or is too long, is passed over.
    const last = inside.at(-1)
    next = Math.max(next, Math.min(before + count, offset + limit), last ? before + last.index + last.count : 0)
  }
  const truncated = next < total
  return { matches, total, fileCount, truncated, ...(truncated ? { nextOffset: next } : {}) }
}

/** Nothing is shown of a file that has changed since it was searched. */
async function entriesOf(
  files: Files,
  root: SearchRoot,
  file: string,
  places: readonly Place[],
  options: EntryOptions,
): Promise<ShownMatch[]> {
  const shown = await withText(files, file, root, async (around) => {
    const entries: ShownMatch[] = []
    for (const place of places) {
      const part = await around(place.at, place.at + place.length, options)
      if (part === undefined) continue
      const entry = entryOf(file, place, part, options)
      if (entry === undefined) return []
      entries.push(entry)
    }
    return entries
  })
  return shown ?? []
}

interface NeededFile extends FoundFile {
  /** How many matches are in files before it. */
  readonly before: number
}

function filesBetween(found: readonly FoundFile[], from: number, to: number): NeededFile[] {
  const between: NeededFile[] = []
  let before = 0
  for (const one of found) {
    if (before >= to) break
    if (before + one.count > from) between.push({ ...one, before })
    before += one.count
  }
  return between
}

/** One more at the beginning tells whether a line was shown on the page before. */
function wantedOf(needed: readonly NeededFile[], { given: { offset, limit, onlyMatching } }: Search) {
  const range = (before: number): Wanted => ({
    from: Math.max(0, offset - before - 1),
    to: offset + limit - before,
    single: onlyMatching,
  })
  return new Map(needed.map(({ file, before }) => [file, range(before)]))
}

function isBetween(number: number, from: number, to: number): boolean {
  return number >= from && number < to
}
