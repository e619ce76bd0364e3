import fc from "fast-check"
import { expect, test } from "vitest"
import { parseJsonPointer, valueAtPointer } from "../../../src/lib/json-pointer.ts"
import { jsonLines } from "./json-lines.ts"

const text = (value: unknown) =>
  jsonLines(value)
    .map((line) => line.tokens.map((token) => token.text).join(""))
    .join("\n")

test("what is printed is what JSON.stringify prints, and each pointer leads to its value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(text(value)).toBe(JSON.stringify(value, null, 2))
      for (const token of jsonLines(value).flatMap(({ tokens }) => tokens)) {
        if (token.pointer === undefined) continue
        expect(valueAtPointer(value, parseJsonPointer(token.pointer) ?? ["?"])).toEqual(JSON.parse(token.text))
      }
    }),
  )
})

test("a long array is folded, and says how much is left out", () => {
  const lines = jsonLines({ rows: [1, 2, 3, 4, 5] }, 2)
  expect(lines.find(({ folded }) => folded !== undefined)?.folded).toEqual({ pointer: "/rows", count: 3 })
  expect(lines).toHaveLength(7)
})
