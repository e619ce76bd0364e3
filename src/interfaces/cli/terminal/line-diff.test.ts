import fc from "fast-check"
import { expect, test } from "vitest"
import { lineDiff } from "./line-diff.ts"

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "- a", "  b"), { minLength: 1, maxLength: 12 })

test("unchanged and removed lines make the old text, unchanged and added lines the new one", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      fc.pre(before.join("\n") !== "" && after.join("\n") !== "")
      const diff = lineDiff(before.join("\n"), after.join("\n"), Infinity)
      const side = (mark: string) => diff.filter((line) => !line.startsWith(mark)).map((line) => line.slice(2))
      if (before.join("\n") !== after.join("\n")) expect([side("+ "), side("- ")]).toEqual([before, after])
      else expect(diff).toEqual(["  …"])
    }),
    { numRuns: 500 },
  )
})

test("lines far from a change are replaced by …", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const after = before.with(10, "changed")
  expect(lineDiff(before.join("\n"), after.join("\n"), 1)).toEqual([
    "  …",
    "  line 9",
    "- line 10",
    "+ changed",
    "  line 11",
    "  …",
  ])
})

test("a new text is all new, and a very long one is compared in a moment", () => {
  expect(lineDiff("", "a\nb")).toEqual(["+ a", "+ b"])
  const long = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join("\n")
  expect(lineDiff(long("a"), long("b"))).toHaveLength(10_000)
})
