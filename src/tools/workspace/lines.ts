/** Some lines of a text, with their line endings. */
export interface LineRange {
  readonly content: string
  /** 1-based. */
  readonly startLine: number
  /** The last line; `startLine - 1` if there are no lines. */
  readonly endLine: number
  readonly totalLines: number
}

/** The line separator: a line feed, or a carriage return in a text that has no line feeds. */
export function separatorOf(text: string): "\n" | "\r" {
  return text.includes("\n") || !text.includes("\r") ? "\n" : "\r"
}

export function countLines(text: string, separator: "\n" | "\r" = separatorOf(text)): number {
  let count = 0
  let at = 0
  for (let found = text.indexOf(separator); found !== -1; found = text.indexOf(separator, at)) {
    count++
    at = found + 1
  }
  return at < text.length ? count + 1 : count
}

/** Lines `offset` to `offset + limit - 1`. */
export function takeLines(text: string, offset: number, limit: number): LineRange {
  const separator = separatorOf(text)
  const totalLines = countLines(text, separator)
  if (offset === 1 && totalLines <= limit) return { content: text, startLine: 1, endLine: totalLines, totalLines }
  const start = lineStart(text, separator, 0, offset - 1)
  const end = lineStart(text, separator, start, limit)
  const endLine = Math.max(Math.min(totalLines, offset + limit - 1), offset - 1)
  return { content: text.slice(start, end), startLine: offset, endLine, totalLines }
}

/** The last lines. */
export function takeLastLines(text: string, tail: number): LineRange {
  const totalLines = countLines(text)
  return takeLines(text, Math.max(1, totalLines - tail + 1), tail)
}

/** The start of the line that is `lines` lines after `from`; the end of the text if there is none. */
function lineStart(text: string, separator: string, from: number, lines: number): number {
  let at = from
  for (let passed = 0; passed < lines; passed++) {
    const found = text.indexOf(separator, at)
    if (found === -1) return text.length
    at = found + 1
  }
  return at
}
