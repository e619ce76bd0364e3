import { asCounts, readCounts } from "./search-counts.ts"
import type { SearchInput } from "./search-files.ts"
import { asLines, LinesReader } from "./search-lines.ts"
import { asMessages, MessagesReader } from "./search-messages.ts"
import { SearchPage } from "./search-page.ts"
import type { Place, Wanted } from "./search-places.ts"
import { runRipgrep, type RipgrepEnd, type RipgrepRun } from "./ripgrep.ts"
import type { SearchRoot } from "./search-root.ts"

/** One search: where, for what, and which part of it is asked for. */
export interface Search {
  readonly root: SearchRoot
  readonly pattern: readonly string[]
  /** What says which files are searched. */
  readonly which: readonly string[]
  readonly given: SearchInput
  readonly limits: SearchLimits
  readonly run: Omit<RipgrepRun, "onOutput">
  /** What a file is called that ripgrep names; undefined if it is not meant. */
  fileOf(printed: string): string | undefined
}

export interface SearchLimits {
  /** So far into the matches, where they are is kept in memory. */
  readonly mostKept: number
  /** Of more matches ripgrep is not asked where they are, only how many. */
  readonly mostPlaces: number
}

export interface Found {
  readonly page: SearchPage
  /** Whether the page knows where its matches are, so that no file is searched again. */
  readonly hasPlaces: boolean
  readonly end: RipgrepEnd
}

/**
 * Searches all files once, and is told where each match is. Counting is cheaper where there are very many matches, so
 * ripgrep begins anew as soon as that is seen; a match that goes over lines it cannot tell of so.
 */
export async function searchAll(search: Search): Promise<Found> {
  const { given, limits } = search
  if (search.root.target === undefined) return { page: pageFor(search), hasPlaces: true, end: ended }
  const mayBeKept = given.output === "matches" && given.offset + given.limit <= limits.mostKept
  const found = given.multiline || !mayBeKept ? undefined : await placesIn(search)
  return found ?? countsIn(search)
}

const ended: RipgrepEnd = { timedOut: false, unreadable: false }

function pageFor({ given: { offset, limit, output } }: Search): SearchPage {
  return new SearchPage(offset + limit, output)
}

/** Undefined when there are too many. */
async function placesIn(search: Search): Promise<Found | undefined> {
  const { root, pattern, which, given, limits, run, fileOf } = search
  const page = pageFor(search)
  const first: Wanted = { from: 0, to: given.offset + given.limit, single: given.onlyMatching }
  const reader = new LinesReader(
    (printed) => {
      const file = fileOf(printed)
      return file === undefined ? undefined : { file, wanted: page.takes(file) ? first : none }
    },
    (found) => page.add(found),
  )
  const onOutput = (bytes: Buffer) => {
    reader.read(bytes)
    return reader.lines <= limits.mostPlaces
  }
  const end = await runRipgrep([...asLines, ...pattern, ...which, "--", root.target!], {
    ...run,
    onOutput,
    isSparse: true,
  })
  reader.end()
  return reader.lines <= limits.mostPlaces ? { page, hasPlaces: true, end } : undefined
}

async function countsIn(search: Search): Promise<Found> {
  const { root, pattern, which, run, fileOf } = search
  const page = pageFor(search)
  const onOutput = readCounts((printed, count) => {
    const file = fileOf(printed)
    if (file !== undefined) page.add({ file, count, places: [] })
  })
  const end = await runRipgrep([...asCounts, ...pattern, ...which, "--", root.target!], {
    ...run,
    onOutput,
    isSparse: true,
  })
  return { page, hasPlaces: false, end }
}

const none: Wanted = { from: 0, to: 0, single: false }

/** Where the matches of some files are. What has none any more, or is binary after all, is not among them. */
export async function searchAgain(
  search: Search,
  needed: ReadonlyMap<string, Wanted>,
): Promise<Map<string, readonly Place[]>> {
  const { root, pattern, given, run } = search
  const looked = new Map<string, readonly Place[]>()
  const most = Math.max(0, ...[...needed.values()].map(({ to }) => to))
  const options = [...pattern, "--no-ignore", "--threads=1", `--max-count=${most}`, "--"]
  const wantedOf = (printed: string) => needed.get(root.pathOf(printed)) ?? none
  for (const batch of inBatches([...needed.keys()].map((file) => root.printedOf(file)))) {
    const reader = given.multiline
      ? new MessagesReader(wantedOf, (printed, places) => looked.set(root.pathOf(printed), places))
      : new LinesReader(
          (printed) => ({ file: root.pathOf(printed), wanted: wantedOf(printed) }),
          ({ file, places }) => looked.set(file, places),
        )
    const command = [...(given.multiline ? asMessages : asLines), ...options, ...batch]
    const { timedOut } = await runRipgrep(command, { ...run, onOutput: (bytes) => reader.read(bytes) })
    reader.end()
    if (timedOut) for (const file of needed.keys()) looked.set(file, looked.get(file) ?? [])
  }
  return looked
}

/** What one command line can hold. */
const longestCommand = process.platform === "win32" ? 20_000 : 400_000

function* inBatches(names: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let length = 0
  for (const name of names) {
    if (batch.length > 0 && length + name.length > longestCommand) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(name)
    length += name.length + 1
  }
  if (batch.length > 0) yield batch
}
