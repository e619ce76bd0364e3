import { expect, test } from "vitest"
import { width } from "../../terminal/width.ts"
import { endOf, inputRows, wrap } from "./layout.ts"
import { lineOf } from "../../../../lib/line-editor.ts"

test.each<[string, number, string[]]>([
  ["a short line", 20, ["a short line"]],
  ["one two three", 8, ["one two", "three"]],
  ["one two", 7, ["one two"]],
  ["averylongword and", 6, ["averyl", "ongwor", "d and"]],
  ["日本語のテキスト", 6, ["日本語", "のテキ", "スト"]],
  ["  - indented item", 12, ["  - indented", "    item"]],
  ["", 5, [""]],
  ["one \u001b[31m two", 13, ["one", "\u001b[31m", "two"]],
])("'%s' in %i columns", (text, columns, rows) => {
  expect(wrap(text, columns)).toEqual(rows)
})

test.each([40, 80, 200])("the input fits into %i columns, and the cursor is inside", (columns) => {
  const text = `${"words and 日本語 ".repeat(30)}\nsecond line`
  for (const cursor of [0, 17, 100, text.length]) {
    const laid = inputRows({ ...lineOf(text), cursor }, columns, 6)
    expect(Math.max(...laid.rows.map(width))).toBeLessThan(columns)
    expect(laid.rows.length).toBeLessThanOrEqual(6)
    expect(laid.cursor.row).toBeLessThan(laid.rows.length)
    expect(laid.cursor.column).toBeLessThan(columns)
  }
})

test("the cursor stands after a line end, and after a full row", () => {
  expect(inputRows(lineOf("ab\n"), 40, 6)).toEqual({ rows: ["› ab", "  "], cursor: { row: 1, column: 2 } })
  expect(inputRows({ ...lineOf("ab\ncd"), cursor: 1 }, 40, 6).cursor).toEqual({ row: 0, column: 3 })
})

test.each([
  ["short", 10, "short"],
  ["a long text", 6, "… text"],
  ["日本語のテキスト", 6, "…スト"],
])("the end of '%s' in %i columns", (text, columns, end) => {
  expect(endOf(text, columns)).toBe(end)
})
