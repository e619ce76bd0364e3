import * as fc from "fast-check"
import { expect, test } from "vitest"
import { table } from "./table.ts"
import { cutTo, padTo, width } from "./width.ts"

test.each([
  ["", 0],
  ["abc", 3],
  ["é", 1],
  ["e\u0301", 1],
  ["中文", 4],
  ["한글", 4],
  ["カナ", 4],
  ["ｶﾅ", 2],
  ["ＡＢ", 4],
  ["a中b", 4],
  ["🙂", 2],
  ["👨‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["—…", 2],
  ["𠀀", 2],
  ["\u001b[31mred\u001b[39m", 3],
])("%j takes %i columns", (text, columns) => expect(width(text)).toBe(columns))

const texts = fc.string({ unit: fc.constantFrom("a", " ", "中", "한", "🙂", "\u0301", "…", "ｶ") })

test("a cut text is never wider than the room, and an uncut one is whole", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 20 }), (text, columns) => {
      const cut = cutTo(text, columns)
      expect(width(cut)).toBeLessThanOrEqual(columns)
      if (width(text) <= columns) expect(cut).toBe(text)
      else if (columns > 0) expect(cut).toMatch(/…$/)
    }),
  )
})

test("a character of several code points is cut as a whole", () => {
  expect(cutTo("👨‍👩‍👧👨‍👩‍👧", 3)).toBe("👨‍👩‍👧…")
  expect(cutTo("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…")
  expect(cutTo("𠀀𠀀𠀀", 5)).toBe("𠀀𠀀…")
})

test("a padded text is exactly as wide as asked, or as wide as it is", () => {
  fc.assert(
    fc.property(texts, fc.nat(30), (text, columns) => {
      expect(width(padTo(text, columns))).toBe(Math.max(columns, width(text)))
    }),
  )
})

test("columns stay aligned beside wide characters, lines are cut to the width, and line ends become spaces", () => {
  const rows = [
    ["名字", "数据处理", "one\ntwo"],
    ["name", "data", "a description that is much too long for this line"],
  ]
  const painted = { title: "B", paint: (cell: string) => `<${cell}>` }
  expect(table([{ title: "A" }, painted, { title: "C" }], rows, 36).split("\n")).toEqual([
    "A     B         C",
    "名字  <数据处理>  one two",
    "name  <data>      a description that…",
  ])
})
