import { cutTo, padTo, width } from "./width.ts"

export interface Column {
  title: string
  /** Colours a cell after it has been measured. */
  paint?: (cell: string) => string
}

const gap = "  "

/** A table with a header. The last column is cut so that no line is longer than `columns`. */
export function table(head: readonly Column[], rows: readonly (readonly string[])[], columns = Infinity): string {
  const cells = rows.map((row) => row.map(oneLine))
  const widths = head.map(({ title }, index) => Math.max(width(title), ...cells.map((row) => width(row[index] ?? ""))))
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + gap.length, 0)
  const room = Math.max(10, columns - before)
  const line = (row: readonly string[], paint: (text: string, index: number) => string) =>
    row
      .map((cell, index) => {
        if (index === head.length - 1) return paint(cutTo(cell, room), index)
        return paint(cell, index) + padTo("", (widths[index] ?? 0) - width(cell))
      })
      .join(gap)
      .trimEnd()
  return [
    line(
      head.map(({ title }) => title),
      (text) => text,
    ),
    ...cells.map((row) => line(row, (text, index) => head[index]?.paint?.(text) ?? text)),
  ].join("\n")
}

/** The terminal's width, or 100 without a terminal. */
export function columnsOf(stdout: NodeJS.WriteStream): number {
  return (stdout.isTTY && stdout.columns) || 100
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}
