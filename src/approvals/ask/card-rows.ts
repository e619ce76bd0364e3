import { wholeCharacters } from "../../core/model-text.ts"
import type { Colour } from "../../lib/terminal-style.ts"
import { printable, printableJson } from "../../lib/printable.ts"

/** Limits the shown part of a text. */
export interface TextLimit {
  characters: number
  lines: number
  /** The most rows of the terminal, with the row that says that it is cut. */
  rows?: number
}

const bar = "│ "
const continuedBar = "│…"
const indent = "    "

/** A line of our own, broken at words. Rows after the first are indented, so that none looks like a new line. */
export function trustedRows(text: string, columns: number): string[] {
  const [first = "", ...more] = byWords(text, columns - indent.length)
  return [first, ...more.map((row) => indent + row)]
}

/**
 * Text of an agent or tool: every row starts with a bar, so that nothing in it looks like a line of our own. A row that
 * continues the one before has another bar. `isCut` says that there is more.
 */
export function untrustedRows(
  text: string,
  { columns, limit, colourOf }: { columns: number; limit: TextLimit; colourOf?: (line: string) => Colour },
): { rows: string[]; isCut: boolean } {
  const escaped = printable(wholeCharacters(text, limit.characters))
  const lines = wholeCharacters(escaped, limit.characters).split("\n")
  const isLong = text.length > limit.characters || escaped.length > limit.characters || lines.length > limit.lines
  const rows = lines.slice(0, limit.lines).flatMap((line) => {
    const colour = colourOf?.(line)
    return byColumns(line.replaceAll("\t", shownTab), columns - bar.length, "after a space").map(
      (row, place) => (place === 0 ? bar : continuedBar) + (colour === undefined ? row : colour(row)),
    )
  })
  const isCut = isLong || rows.length > (limit.rows ?? Infinity)
  return { rows: isCut && limit.rows !== undefined ? rows.slice(0, limit.rows - 1) : rows, isCut }
}

/** Text of an agent or tool inside a line of our own. */
export function oneLine(text: string, most = 1000): string {
  const shown = printable(wholeCharacters(text, most)).replaceAll("\n", "\\u{a}").replaceAll("\t", "\\u{9}")
  return text.length <= most ? shown : `${shown}… (${lengthText(text)})`
}

/** A name inside a line of our own: in quotes if it could be mistaken for more than a name. */
export function quoteName(name: string): string {
  if (plainName.test(name) && name.length <= longestName && printable(name) === name) return name
  const quoted = printableJson(wholeCharacters(name, longestName))
  return name.length <= longestName ? quoted : `${quoted}… (${lengthText(name)})`
}

/** The length of a text, for people. */
export function lengthText(text: string): string {
  return text.length === 1 ? "1 character" : `${text.length.toLocaleString("en-US")} characters`
}

const shownTab = "→   "
const longestName = 200
const plainName = /^[\p{L}\p{N}_]([\p{L}\p{M}\p{N}_.:@/-]*[\p{L}\p{M}\p{N}_])?$/u

function byWords(text: string, width: number): string[] {
  const rows: string[] = []
  let row = ""
  for (const word of text.split(" ")) {
    const longer = row === "" ? word : `${row} ${word}`
    if (columnsOf(longer) <= width) {
      row = longer
      continue
    }
    if (row !== "") rows.push(row)
    const pieces = byColumns(word, width)
    row = pieces.pop() ?? ""
    rows.push(...pieces)
  }
  return [...rows, row]
}

/** Rows of at most that width, which together are the line. With "after a space" words stay whole, but long ones. */
function byColumns(line: string, width: number, broken: "anywhere" | "after a space" = "anywhere"): string[] {
  const rows: string[] = []
  let row = ""
  let used = 0
  for (const character of line) {
    const columns = columnsOf(character)
    if (used + columns > width) {
      const at = broken === "anywhere" || character === " " ? row.length : endOfWords(row)
      rows.push(row.slice(0, at))
      row = row.slice(at)
      used = columnsOf(row)
    }
    row += character
    used += columns
  }
  return [...rows, row]
}

/** The end of the last whole word of a row; the row's own end if less than half of it would be left. */
function endOfWords(row: string): number {
  const at = row.lastIndexOf(" ") + 1
  return at < row.length / 2 ? row.length : at
}

/** The most columns that any terminal takes for the text: a row may be too short, but the terminal never breaks it. */
function columnsOf(text: string): number {
  let columns = 0
  for (const character of text) columns += character.codePointAt(0)! < 0x1100 ? 1 : 2
  return columns
}
