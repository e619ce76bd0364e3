import { countArguments, readCounts } from "./search-counts.ts"
import type { SearchInput } from "./search-files.ts"
import { lineArguments, LineMatchReader } from "./search-lines.ts"
import { jsonArguments, JsonMatchReader } from "./search-json.ts"
import { SearchPage } from "./search-page.ts"
import type { MatchLine, MatchRange } from "./search-match-lines.ts"
import { runRipgrep, type RipgrepEnd, type RipgrepRun } from "../../platform/ripgrep/ripgrep.ts"
import type { SearchRoot } from "./search-root.ts"

/** One search: where, for what, and which page of the matches. */
export interface Search {
  readonly root: SearchRoot
  readonly patternArguments: readonly string[]
  /** The ripgrep arguments that select files. */
  readonly fileArguments: readonly string[]
  readonly given: SearchInput
  readonly limits: SearchLimits
  readonly run: Omit<RipgrepRun, "onOutput">
  /** The path of a file that ripgrep printed; undefined if the file is not part of the search. */
  fileOf(printed: string): string | undefined
}

export interface SearchLimits {
  /** Up to this many matches, their positions are kept in memory. */
  readonly mostKept: number
  /** With more matching lines, ripgrep only counts matches. */
  readonly mostMatchLines: number
}

export interface FileSearchResult {
  readonly page: SearchPage
  /** True if the page has the positions of its matches. Otherwise its files are searched again. */
  readonly hasMatchLines: boolean
  readonly end: RipgrepEnd
}

/**
 * Searches all files once for the positions of all matches. If there are very many, starts ripgrep again only to count
 * them, which is cheaper. Multi-line matches are always counted first.
 */
export async function searchAll(search: Search): Promise<FileSearchResult> {
  const { given, limits } = search
  if (search.root.target === undefined) return { page: pageFor(search), hasMatchLines: true, end: ended }
  const mayBeKept = given.output === "matches" && given.offset + given.limit <= limits.mostKept
  const found = given.multiline || !mayBeKept ? undefined : await findPositions(search)
  return found ?? countMatches(search)
}

const ended: RipgrepEnd = { timedOut: false, unreadable: false }

function pageFor({ given: { offset, limit, output } }: Search): SearchPage {
  return new SearchPage(offset + limit, output)
}

/** Undefined if there are too many. */
async function findPositions(search: Search): Promise<FileSearchResult | undefined> {
  const { root, patternArguments, fileArguments, given, limits, run, fileOf } = search
  const page = pageFor(search)
  const first: MatchRange = { from: 0, to: given.offset + given.limit, separate: given.onlyMatching }
  const reader = new LineMatchReader(
    (printed) => {
      const file = fileOf(printed)
      return file === undefined ? undefined : { file, range: page.accepts(file) ? first : none }
    },
    (found) => page.add(found),
  )
  const onOutput = (bytes: Buffer) => {
    reader.read(bytes)
    return reader.lines <= limits.mostMatchLines
  }
  const end = await runRipgrep([...lineArguments, ...patternArguments, ...fileArguments, "--", root.target!], {
    ...run,
    onOutput,
    isSparse: true,
  })
  reader.end()
  return reader.lines <= limits.mostMatchLines ? { page, hasMatchLines: true, end } : undefined
}

async function countMatches(search: Search): Promise<FileSearchResult> {
  const { root, patternArguments, fileArguments, run, fileOf } = search
  const page = pageFor(search)
  const onOutput = readCounts((printed, count) => {
    const file = fileOf(printed)
    if (file !== undefined) page.add({ file, count, matchLines: [] })
  })
  const end = await runRipgrep([...countArguments, ...patternArguments, ...fileArguments, "--", root.target!], {
    ...run,
    onOutput,
    isSparse: true,
  })
  return { page, hasMatchLines: false, end }
}

const none: MatchRange = { from: 0, to: 0, separate: false }

/** The positions of the matches in some files. Leaves out files that no longer match or turn out to be binary. */
export async function searchAgain(
  search: Search,
  needed: ReadonlyMap<string, MatchRange>,
): Promise<Map<string, readonly MatchLine[]>> {
  const { root, patternArguments, given, run } = search
  const found = new Map<string, readonly MatchLine[]>()
  const most = Math.max(0, ...[...needed.values()].map(({ to }) => to))
  const options = [...patternArguments, "--no-ignore", "--threads=1", `--max-count=${most}`, "--"]
  const wantedOf = (printed: string) => needed.get(root.pathOf(printed)) ?? none
  for (const batch of inBatches([...needed.keys()].map((file) => root.printedOf(file)))) {
    const reader = given.multiline
      ? new JsonMatchReader(wantedOf, (printed, matchLines) => found.set(root.pathOf(printed), matchLines))
      : new LineMatchReader(
          (printed) => ({ file: root.pathOf(printed), range: wantedOf(printed) }),
          ({ file, matchLines }) => found.set(file, matchLines),
        )
    const command = [...(given.multiline ? jsonArguments : lineArguments), ...options, ...batch]
    const { timedOut } = await runRipgrep(command, { ...run, onOutput: (bytes) => reader.read(bytes) })
    reader.end()
    if (timedOut) for (const file of needed.keys()) found.set(file, found.get(file) ?? [])
  }
  return found
}

/** The longest command line in characters. */
const maxCommandLength = process.platform === "win32" ? 20_000 : 400_000

function* inBatches(names: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let length = 0
  for (const name of names) {
    if (batch.length > 0 && length + name.length > maxCommandLength) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(name)
    length += name.length + 1
  }
  if (batch.length > 0) yield batch
}
