import type { FoundFile } from "./search-page.ts"
import { keep, longestBeginning, type Place, type Wanted } from "./search-places.ts"

/** What makes ripgrep print what `LinesReader` reads. It would leave out matches without text that may go over lines. */
export const asLines = ["--only-matching", "--line-number", "--byte-offset", "--heading", "--with-filename", "--null"]

/** A file that ripgrep names: what it is called here, and which of its matches are kept. */
export interface Meant {
  readonly file: string
  readonly wanted: Wanted
}

/**
 * Reads the name of a file, which ends with NUL, and a line for each match in it, such as `12:340:text`: the number of its
 * line, and where it begins. An empty line is between two files. A line that begins otherwise says that the file is binary
 * after all, and then it does not count. Of millions of lines nearly all are only counted, so it goes by bytes.
 */
export class LinesReader {
  readonly #meantBy: (printed: string) => Meant | undefined
  readonly #each: (found: FoundFile) => void
  #state: "name" | "beginning" | "line" = "name"
  #meant: Meant | undefined
  #places: Place[] = []
  #count = 0
  #isText = true
  /** How many lines there were, of all files. */
  lines = 0
  /** Whether matches are kept, not only counted. */
  #keeps = false
  /** What has come of a name, or of a line that is kept. */
  readonly #record = Buffer.alloc(longestRecord)
  #length = 0

  constructor(meantBy: (printed: string) => Meant | undefined, each: (found: FoundFile) => void) {
    this.#meantBy = meantBy
    this.#each = each
  }

  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#state === "beginning") at = this.#beginLine(bytes, at)
      else at = this.#readRecord(bytes, at, this.#state === "name" ? 0 : newline)
    }
  }

  /** When nothing more comes, or the next file does. */
  end(): void {
    if (this.#meant !== undefined && this.#isText && this.#count > 0)
      this.#each({ file: this.#meant.file, count: this.#count, places: this.#places })
    this.#meant = undefined
  }

  #beginLine(bytes: Buffer, at: number): number {
    const first = bytes[at]!
    this.#state = first === newline ? "name" : "line"
    if (first === newline) this.end()
    else if (first < zero || first > nine) this.#isText = false
    return first === newline ? at + 1 : at
  }

  #readRecord(bytes: Buffer, at: number, last: number): number {
    let end = at
    while (end < bytes.length && bytes[end] !== last) end += 1
    if (this.#keeps || last === 0) {
      // Of a long one the beginning is enough.
      bytes.copy(this.#record, Math.min(this.#length, longestRecord), at, end)
      this.#length += end - at
    }
    if (end === bytes.length) return end
    if (last === 0) this.#beginFile()
    else this.#endLine()
    this.#length = 0
    this.#state = "beginning"
    return end + 1
  }

  #beginFile(): void {
    const isWhole = this.#length <= longestRecord
    this.#meant = isWhole ? this.#meantBy(this.#record.toString("utf8", 0, this.#length)) : undefined
    this.#places = []
    this.#count = 0
    this.#isText = true
    this.#keeps = this.#meant !== undefined && this.#meant.wanted.from < this.#meant.wanted.to
  }

  #endLine(): void {
    if (this.#keeps) this.#keeps = keep(this.#places, this.#match(), this.#meant!.wanted)
    this.#count += 1
    this.lines += 1
  }

  #match(): Omit<Place, "count"> {
    const afterLine = this.#record.indexOf(colon) + 1
    const begin = this.#record.indexOf(colon, afterLine) + 1
    return {
      index: this.#count,
      line: Number(this.#record.toString("latin1", 0, afterLine - 1)),
      at: Number(this.#record.toString("latin1", afterLine, begin - 1)),
      length: this.#length - begin,
      begins: this.#record.subarray(begin, Math.min(this.#length, longestRecord)),
    }
  }
}

/** A path is at most 4096 bytes; a match is compared by fewer, behind two numbers. */
const longestRecord = Math.max(4100, longestBeginning + 50)
const newline = 10
const zero = 48
const nine = 57
const colon = 58
