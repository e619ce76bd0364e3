import { TopItems } from "./top-items.ts"
import type { MatchLine } from "./search-match-lines.ts"

/** A file with matches. */
export interface FoundFile {
  readonly file: string
  /** The number of its matches. */
  readonly count: number
  /** Its requested matches. */
  readonly matchLines: readonly MatchLine[]
}

/** Counts everything that was found and keeps the first files by path, as many as can be shown. */
export class SearchPage {
  total = 0
  fileCount = 0
  readonly #first: TopItems<FoundFile>

  /** `limit` counts matches or files. */
  constructor(limit: number, counted: "matches" | "files") {
    const weigh = counted === "files" ? () => 1 : ({ count }: FoundFile) => count
    this.#first = new TopItems(limit, (a, b) => (a.file < b.file ? -1 : 1), weigh)
  }

  /** Reports whether something of this file could still be shown. */
  accepts(file: string): boolean {
    return this.#first.accepts({ file, count: 0, matchLines: [] })
  }

  add(found: FoundFile): void {
    this.total += found.count
    this.fileCount += 1
    this.#first.add(found)
  }

  first(): readonly FoundFile[] {
    return this.#first.sorted()
  }
}
