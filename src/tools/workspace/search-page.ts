import { FirstOf } from "./first-of.ts"
import type { Place } from "./search-places.ts"

/** A file in which something matches. */
export interface FoundFile {
  readonly file: string
  /** How many matches it has. */
  readonly count: number
  /** Those of its matches that were asked for. */
  readonly places: readonly Place[]
}

/** All that was found is counted; kept are the first files in the order of their paths, as many as can be shown. */
export class SearchPage {
  total = 0
  fileCount = 0
  readonly #first: FirstOf<FoundFile>

  /** `most` is of matches, or of files. */
  constructor(most: number, counted: "matches" | "files") {
    const weigh = counted === "files" ? () => 1 : ({ count }: FoundFile) => count
    this.#first = new FirstOf(most, (one, other) => (one.file < other.file ? -1 : 1), weigh)
  }

  /** Whether anything of this file can be shown, as far as is known. */
  takes(file: string): boolean {
    return this.#first.takes({ file, count: 0, places: [] })
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
