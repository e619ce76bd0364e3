import { keep, type Place, type Wanted } from "./search-places.ts"

/** What makes ripgrep print what `MessagesReader` reads. */
export const asMessages = ["--json"]

/** One line of it. */
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

/** Bytes that are no UTF-8 come in Base64. */
interface Text {
  readonly text?: string
  readonly bytes?: string
}

/** Reads where matches are that may go over lines, of which ripgrep tells in no other way. */
export class MessagesReader {
  readonly #wantedOf: (printed: string) => Wanted
  readonly #each: (printed: string, places: Place[]) => void
  #places: Place[] = []
  #count = 0
  #parts: Buffer[] = []
  #length = 0

  constructor(wantedOf: (printed: string) => Wanted, each: (printed: string, places: Place[]) => void) {
    this.#wantedOf = wantedOf
    this.#each = each
  }

  read(bytes: Buffer): void {
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      this.#take(bytes.subarray(from, end))
      if (this.#length <= longestMessage) this.#readMessage(Buffer.concat(this.#parts).toString("utf8"))
      this.#parts = []
      this.#length = 0
      from = end + 1
    }
    this.#take(bytes.subarray(from))
  }

  /** Every message ends with its line. */
  end(): void {}

  #take(part: Buffer): void {
    this.#length += part.length
    if (this.#length <= longestMessage) this.#parts.push(part)
    else this.#parts = []
  }

  #readMessage(line: string): void {
    const { type, data } = JSON.parse(line) as Message
    if (type === "begin") {
      this.#places = []
      this.#count = 0
    } else if (type === "match") {
      const wanted = this.#wantedOf(data.path.text ?? "")
      for (const match of matchesOf(data, this.#count)) keep(this.#places, match, wanted)
      this.#count += data.submatches.length
    } else if (type === "end" && data.binary_offset === null) this.#each(data.path.text ?? "", this.#places)
  }
}

/** ripgrep tells of neighbouring matches that go over lines as one; here each begins in a line of its own. */
function* matchesOf(data: Message["data"], before: number): Generator<Omit<Place, "count">> {
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
    yield { index: before + index, line, at: data.absolute_offset + start, length: end - start, begins: lines.subarray(start, end) } // prettier-ignore
  }
}

/** A message that is longer is left out: its line is too long for anybody. */
const longestMessage = 16 * 1024 * 1024
const newline = 10
