import { addMatch, type MatchLine, type MatchRange } from "./search-match-lines.ts"

/** The ripgrep arguments for `JsonMatchReader`. */
export const jsonArguments = ["--json"]

/** One line of the output. */
interface Message {
  readonly type: "begin" | "match" | "context" | "end" | "summary"
  readonly data: {
    readonly path: Text
    readonly lines: Text
    readonly line_number: number
    readonly absolute_offset: number
    readonly submatches: readonly { readonly start: number; readonly end: number }[]
    readonly binary_offset: number | null
  }
}

/** Bytes that are not UTF-8 come in Base64. */
interface Text {
  readonly text?: string
  readonly bytes?: string
}

/** Reads the positions of multi-line matches, which ripgrep reports only as JSON. */
export class JsonMatchReader {
  readonly #rangeOf: (printed: string) => MatchRange
  readonly #each: (printed: string, matchLines: MatchLine[]) => void
  #matchLines: MatchLine[] = []
  #count = 0
  #parts: Buffer[] = []
  #length = 0

  constructor(rangeOf: (printed: string) => MatchRange, each: (printed: string, matchLines: MatchLine[]) => void) {
    this.#rangeOf = rangeOf
    this.#each = each
  }

  read(bytes: Buffer): void {
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      this.#take(bytes.subarray(from, end))
      if (this.#length <= maxMessageBytes) this.#readMessage(Buffer.concat(this.#parts).toString("utf8"))
      this.#parts = []
      this.#length = 0
      from = end + 1
    }
    this.#take(bytes.subarray(from))
  }

  /** Nothing to do: every message is complete with its line. */
  end(): void {}

  #take(part: Buffer): void {
    this.#length += part.length
    if (this.#length <= maxMessageBytes) this.#parts.push(part)
    else this.#parts = []
  }

  #readMessage(line: string): void {
    const { type, data } = JSON.parse(line) as Message
    if (type === "begin") {
      this.#matchLines = []
      this.#count = 0
    } else if (type === "match") {
      const range = this.#rangeOf(data.path.text ?? "")
      for (const match of matchesOf(data, this.#count)) addMatch(this.#matchLines, match, range)
      this.#count += data.submatches.length
    } else if (type === "end" && data.binary_offset === null) this.#each(data.path.text ?? "", this.#matchLines)
  }
}

/** ripgrep reports neighbouring multi-line matches together; this yields each with the line it starts in. */
function* matchesOf(data: Message["data"], before: number): Generator<Omit<MatchLine, "count">> {
  const { text, bytes } = data.lines
  const lines = text === undefined ? Buffer.from(bytes ?? "", "base64") : Buffer.from(text, "utf8")
  let line = data.line_number
  let counted = 0
  for (const [index, { start, end }] of data.submatches.entries()) {
    for (
      let next = lines.indexOf(newline, counted);
      next !== -1 && next < start;
      next = lines.indexOf(newline, counted)
    ) {
      line += 1
      counted = next + 1
    }
    yield { index: before + index, line, at: data.absolute_offset + start, length: end - start, startBytes: lines.subarray(start, end) } // prettier-ignore
  }
}

/** Longer messages are skipped. */
const maxMessageBytes = 16 * 1024 * 1024
const newline = 10
