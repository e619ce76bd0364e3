import fc from "fast-check"
import { expect, test } from "vitest"
import { cut } from "./marks.ts"

test("pieces carry the names of every span over them", () => {
  expect(
    cut("const a = 1", [
      { from: 0, to: 5, name: "word" },
      { from: 3, to: 7, name: "new" },
    ]),
  ).toEqual([
    { text: "con", names: ["word"] },
    { text: "st", names: ["word", "new"] },
    { text: " a", names: ["new"] },
    { text: " = 1", names: [] },
  ])
})

test("whatever the spans, no letter is lost or doubled", () => {
  const span = fc.record({ from: fc.nat(30), to: fc.nat(30), name: fc.constant("x") })
  fc.assert(
    fc.property(fc.string(), fc.array(span), (text, spans) => {
      expect(
        cut(text, spans)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text)
    }),
  )
})
