import { expect, test } from "vitest"
import { compareLines, definitionLines } from "./compare-lines.ts"

const shown = (before: readonly string[], after: readonly string[]) =>
  compareLines(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`)

test.each([
  [["a"], ["a"], [" a"]],
  [[], ["a"], ["+a"]],
  [["a"], [], ["-a"]],
  [
    ["a", "b", "c"],
    ["a", "x", "c", "d"],
    [" a", "-b", "+x", " c", "+d"],
  ],
])("%j and %j differ by %j", (before, after, lines) => expect(shown(before, after)).toEqual(lines))

test("the order of names is no difference, and a hidden character is shown as its code", () => {
  expect(definitionLines({ b: 1, a: 2 })).toEqual(definitionLines({ a: 2, b: 1 }))
  expect(definitionLines({ a: "x\u200by" })[1]).toBe('  "a": "x\\u{200b}y"')
})
