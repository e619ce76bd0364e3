import fc from "fast-check"
import { expect, test } from "vitest"
import { isReadable, splitWritten } from "./readable.ts"

test.each([
  ["a paragraph", "Plain **text** with a [link](https://example.org).", true],
  ["a list in a list", "- a\n  - b\n    - c", true],
  ["code that is indented deeply", `\`\`\`\n${" ".repeat(120)}x\n\`\`\``, true],
  ["a megabyte in one line", "x".repeat(1_000_000), false],
  ["endless quotes", ">".repeat(5000), false],
  ["endless lists", "- ".repeat(5000), false],
  ["endless brackets", "[".repeat(5000), false],
  ["a text that is too long", "line\n".repeat(50_000), false],
])("%s is read as Markdown: %#", (_what, text, readable) => expect(isReadable(text)).toBe(readable))

test("a text that is still written is cut at a paragraph, never inside code", () => {
  expect(splitWritten("one\n\ntwo")).toEqual(["one\n\n", "two"])
  expect(splitWritten("one\n\n```\ncode\n\nmore")).toEqual(["one\n\n", "```\ncode\n\nmore"])
  expect(splitWritten("one\n\n```\ncode\n\nmore\n```\n\nafter")).toEqual(["one\n\n```\ncode\n\nmore\n```\n\n", "after"])
  expect(splitWritten("- a\n\n- b")).toEqual(["", "- a\n\n- b"])
})

test("law: both parts together are the whole text", () => {
  const words = fc.constantFrom("a", "\n", "\n\n", "```", "- ", "> ", "1. ", " ")
  fc.assert(
    fc.property(fc.array(words), (parts) => {
      const text = parts.join("")
      expect(splitWritten(text).join("")).toBe(text)
    }),
  )
})
