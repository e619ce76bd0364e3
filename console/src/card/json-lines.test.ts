import fc from "fast-check"
import { expect, test } from "vitest"
import { parseJsonPointer, valueAtPointer } from "../../../src/lib/json-pointer.ts"
import { printableJson } from "../../../src/lib/printable.ts"
import { jsonLines } from "./json-lines.ts"

const text = (value: unknown) =>
  jsonLines(value)
    .map((line) => line.tokens.map((token) => token.text).join(""))
    .join("\n")

test("what is printed is JSON with hidden characters as codes, and each pointer leads to its value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(text(value)).toBe(printableJson(value, 2))
      for (const token of jsonLines(value).flatMap(({ tokens }) => tokens)) {
        if (token.pointer === undefined) continue
        expect(valueAtPointer(value, parseJsonPointer(token.pointer) ?? ["?"])).toEqual(JSON.parse(token.text))
      }
    }),
  )
})

test("a character that turns the text around is written as its code", () => {
  expect(text({ "a\u202E": "b\u202E" })).toBe('{\n  "a\\u202e": "b\\u202e"\n}')
})

test("a long array is folded, and says how much is left out", () => {
  const lines = jsonLines({ rows: [1, 2, 3, 4, 5] }, 2)
  expect(lines.find(({ folded }) => folded !== undefined)?.folded).toEqual({ pointer: "/rows", count: 3 })
  expect(lines).toHaveLength(7)
})
