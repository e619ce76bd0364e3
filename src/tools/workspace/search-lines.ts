import type { FoundFile } from "./search-page.ts"
import { addMatch, comparedBytes, type MatchLine, type MatchRange } from "./search-match-lines.ts"

/** The ripgrep arguments for `LineMatchReader`. They cannot report multi-line matches. */
export const lineArguments = [
  "--only-matching",
  "--line-number",
  "--byte-offset",
  "--heading",
  "--with-filename",
  "--null",
]

/** A file that ripgrep printed: its path, and which of its matches to keep. */
export interface SelectedFile {
  readonly file: string
  readonly range: MatchRange
}

/**
 * Reads ripgrep's output: a file name that ends with NUL, then a line for each match, such as `12:340:text` (line
 * number and byte offset), and an empty line between files. Any other line says that the file is binary; then it is
 * skipped. It works on bytes, because nearly all of perhaps millions of lines are only counted.
 */
export class LineMatchReader {
  readonly #select: (printed: string) => SelectedFile | undefined
  readonly #each: (found: FoundFile) => void
  #state: "name" | "beginning" | "line" = "name"
  #selected: SelectedFile | undefined
  #matchLines: MatchLine[] = []
  #count = 0
  #isText = true
  /** The number of lines of all files. */
  lines = 0
  /** True if matches are kept or only counted. */
  #keeps = false
  /** The current name or line so far. */
  readonly #record = Buffer.alloc(maxRecordBytes)
  #length = 0

  constructor(select: (printed: string) => SelectedFile | undefined, each: (found: FoundFile) => void) {
    this.#select = select
    this.#each = each
  }

  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#state === "beginning") at = this.#beginLine(bytes, at)
      else at = this.#readRecord(bytes, at, this.#state === "name" ? 0 : newline)
    }
  }

  /** Ends the current file. */
  end(): void {
    if (this.#selected !== undefined && this.#isText && this.#count > 0)
      this.#each({ file: this.#selected.file, count: this.#count, matchLines: this.#matchLines })
    this.#selected = undefined
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
      // Of a long line the beginning is enough.
      bytes.copy(this.#record, Math.min(this.#length, maxRecordBytes), at, end)
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
    const isWhole = this.#length <= maxRecordBytes
    this.#selected = isWhole ? this.#select(this.#record.toString("utf8", 0, this.#length)) : undefined
    this.#matchLines = []
    this.#count = 0
    this.#isText = true
    this.#keeps = this.#selected !== undefined && this.#selected.range.from < this.#selected.range.to
  }

  #endLine(): void {
    if (this.#keeps) this.#keeps = addMatch(this.#matchLines, this.#match(), this.#selected!.range)
    this.#count += 1
    this.lines += 1
  }

  #match(): Omit<MatchLine, "count"> {
    const afterLine = this.#record.indexOf(colon) + 1
    const begin = this.#record.indexOf(colon, afterLine) + 1
    return {
      index: this.#count,
      line: Number(this.#record.toString("latin1", 0, afterLine - 1)),
      at: Number(this.#record.toString("latin1", afterLine, begin - 1)),
      length: this.#length - begin,
      startBytes: this.#record.subarray(begin, Math.min(this.#length, maxRecordBytes)),
    }
  }
}

/** Enough for a path of 4096 bytes, and for two numbers and the compared bytes of a match. */
const maxRecordBytes = Math.max(4100, comparedBytes + 50)
const newline = 10
const zero = 48
const nine = 57
const colon = 58
