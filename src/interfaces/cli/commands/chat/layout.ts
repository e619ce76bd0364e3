import { printable } from "../../../../lib/printable.ts"
import { width } from "../../terminal/width.ts"
import type { Line } from "../../../../lib/line-editor.ts"

const characters = new Intl.Segmenter()

/** Splits a line of text into rows of at most that many columns, between words where it can. Rows keep its indent. */
export function wrap(text: string, columns: number): string[] {
  const rows: string[] = []
  const indent = indentOf(text, columns)
  let left = text
  for (;;) {
    const cut = cutAt(left, columns)
    rows.push(left.slice(0, cut.end).trimEnd())
    if (cut.next >= left.length) return rows
    left = indent + left.slice(cut.next)
  }
}

/** The spaces before the further rows of a line: its own indent, behind the mark of a list item. */
export function indentOf(line: string, columns: number): string {
  const [before = ""] = /^\s*(?:(?:[-*\u2022]|\d+\.)\s+)?/.exec(line) ?? []
  return before.length > columns / 3 ? "" : " ".repeat(before.length)
}

/** Returns the end of a row, and the start of the next. Hidden characters take the columns of what stands for them. */
export function cutAt(text: string, columns: number): { end: number; next: number } {
  let used = 0
  let space: number | undefined
  for (const { segment, index } of characters.segment(text)) {
    used += width(printable(segment))
    if (used > columns && index > 0) {
      if (segment === " ") return { end: index, next: index + 1 }
      return space === undefined ? { end: index, next: index } : { end: space, next: space + 1 }
    }
    if (segment === " " && text.slice(0, index).trim() !== "") space = index
  }
  return { end: text.length, next: text.length }
}

/** The end of a text that does not fit into so many columns, behind `…`. */
export function endOf(text: string, columns: number): string {
  if (width(text) <= columns) return text
  let used = 1
  let from = text.length
  for (const { segment, index } of [...characters.segment(text)].toReversed()) {
    used += width(segment)
    if (used > columns) break
    from = index
  }
  return `…${text.slice(from)}`
}

export interface Rows {
  rows: string[]
  cursor: { row: number; column: number }
}

const mark = "› "

/** The input as rows, and where its cursor is. Of a long input only the rows around the cursor are shown. */
export function inputRows({ text, cursor }: Line, columns: number, mostRows: number): Rows {
  const room = Math.max(4, columns - 1 - mark.length)
  const rows: string[] = []
  let place = { row: 0, column: 0 }
  let start = 0
  for (const line of text.split("\n")) {
    let row = ""
    let used = 0
    const isHere = cursor >= start && cursor <= start + line.length
    for (const { segment, index } of characters.segment(line)) {
      const size = width(shown(segment))
      if (used + size > room) {
        rows.push(row)
        row = ""
        used = 0
      }
      if (isHere && start + index === cursor) place = { row: rows.length, column: used }
      row += shown(segment)
      used += size
    }
    if (isHere && cursor === start + line.length) place = { row: rows.length, column: used }
    rows.push(row)
    start += line.length + 1
  }
  const first = Math.max(0, Math.min(place.row - Math.floor(mostRows / 2), rows.length - mostRows))
  return {
    rows: rows.slice(first, first + mostRows).map((row, index) => `${first + index === 0 ? mark : "  "}${row}`),
    cursor: { row: place.row - first, column: place.column + mark.length },
  }
}

function shown(segment: string): string {
  return segment === "\t" ? "    " : segment
}
