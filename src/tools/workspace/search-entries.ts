/** One line of what ripgrep prints with `--json`. */
export interface Message {
  readonly type: "begin" | "match" | "context" | "end" | "summary"
  readonly data: {
    readonly path: Text
    readonly lines: Text
    readonly line_number: number
    readonly absolute_offset: number
    readonly submatches: readonly { readonly match: Text; readonly start: number; readonly end: number }[]
    readonly binary_offset: number | null
  }
}

/** Bytes that are no UTF-8 come in Base64. */
export interface Text {
  readonly text?: string
  readonly bytes?: string
}

export interface ShownMatch {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly match: string
  /** How many matches begin in this line, where that is more than one. */
  readonly count?: number
  readonly context: { readonly before: string[]; readonly after: string[] }
}

export interface EntryOptions {
  readonly onlyMatching: boolean
  readonly context?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/** What one file's messages say, an entry for each line that a match begins in, or for each match. */
export function entriesOf(file: string, messages: readonly Message[], options: EntryOptions): ShownMatch[] {
  const { onlyMatching, context = 0, before = context, after = context } = options
  const around = before + after > 0 ? linesOf(messages) : new Map<number, string>()
  return messages.flatMap(({ type, data }) => {
    if (type !== "match") return []
    const bytes = bytesOf(data.lines)
    return groups(bytes, data.submatches, onlyMatching).map(({ first, from, to, count }) => {
      const line = data.line_number + breaksIn(bytes, 0, from)
      const last = line + breaksIn(bytes, from, Math.max(from, to - 1))
      const column = bytes.subarray(from, first.start).toString("utf8").length + 1
      const text = onlyMatching
        ? shortened(bytes.subarray(first.start, first.end).toString("utf8"), 1)
        : shortened(withoutBreak(bytes.subarray(from, to).toString("utf8")), column)
      return {
        file,
        line,
        column,
        match: text,
        ...(count > 1 ? { count } : {}),
        context: { before: between(around, line - before, line - 1), after: between(around, last + 1, last + after) },
      }
    })
  })
}

export function bytesOf({ text, bytes }: Text): Buffer {
  return text === undefined ? Buffer.from(bytes ?? "", "base64") : Buffer.from(text, "utf8")
}

interface Group {
  readonly first: { readonly start: number; readonly end: number }
  /** The lines it goes over, with their ends. */
  from: number
  to: number
  count: number
}

/** ripgrep tells of neighbouring matches that go over lines as one; here each line they begin in is one. */
function groups(bytes: Buffer, submatches: Message["data"]["submatches"], single: boolean): Group[] {
  const found: Group[] = []
  for (const { start, end } of submatches) {
    const from = start === 0 ? 0 : bytes.lastIndexOf(10, start - 1) + 1
    const ending = bytes.indexOf(10, Math.max(start, end - 1))
    const to = ending === -1 ? bytes.length : ending + 1
    const last = found.at(-1)
    if (!single && last?.from === from) {
      last.to = Math.max(last.to, to)
      last.count += 1
    } else found.push({ first: { start, end }, from, to, count: 1 })
  }
  return found
}

function breaksIn(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = bytes.indexOf(10, from); at !== -1 && at < to; at = bytes.indexOf(10, at + 1)) count += 1
  return count
}

function linesOf(messages: readonly Message[]): Map<number, string> {
  const lines = new Map<number, string>()
  for (const { data } of messages) {
    const texts = withoutBreak(bytesOf(data.lines).toString("utf8")).split("\n")
    for (const [index, text] of texts.entries()) lines.set(data.line_number + index, shortened(withoutBreak(text), 1))
  }
  return lines
}

function between(lines: ReadonlyMap<number, string>, from: number, to: number): string[] {
  const found: string[] = []
  for (let line = from; line <= to; line++) {
    const text = lines.get(line)
    if (text !== undefined) found.push(text)
  }
  return found
}

function withoutBreak(text: string): string {
  return text.replace(/\r?\n$|\r$/, "")
}

const longestLine = 1000
const shownBefore = 200

/** A longer line is shown around the match; what is left out is marked. */
function shortened(text: string, column: number): string {
  if (text.length <= longestLine) return text
  const from = Math.max(0, Math.min(column - 1 - shownBefore, text.length - longestLine))
  const to = from + longestLine
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`.toWellFormed()
}
