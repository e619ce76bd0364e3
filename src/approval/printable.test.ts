import fc from "fast-check"
import { expect, test } from "vitest"
import { printable } from "./printable.ts"

test.each([
  ["an escape sequence", "\u001b[2Jgone", "\\u{1b}[2Jgone"],
  ["a carriage return that writes over the line", "rm -rf /\rls", "rm -rf /\\u{d}ls"],
  ["a backspace", "ab\b", "ab\\u{8}"],
  ["a NUL and a DEL", "\u0000\u007f", "\\u{0}\\u{7f}"],
  ["a control character of the second block", "\u009b31m", "\\u{9b}31m"],
  ["text that is turned round", "a\u202egpj.exe\u202c", "a\\u{202e}gpj.exe\\u{202c}"],
  ["an isolate", "\u2066x\u2069", "\\u{2066}x\\u{2069}"],
  ["an Arabic letter mark", "\u061c", "\\u{61c}"],
  [
    "zero-width characters",
    "a\u200bb\u200cc\u200dd\u2060e\ufefff",
    "a\\u{200b}b\\u{200c}c\\u{200d}d\\u{2060}e\\u{feff}f",
  ],
  ["a soft hyphen", "pay\u00adpal", "pay\\u{ad}pal"],
  ["line and paragraph separators", "a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"],
  ["letters of the tags block", "hi\u{e0041}\u{e007f}", "hi\\u{e0041}\\u{e007f}"],
  ["variation selectors that carry a text", "x\ufe00\u{e0100}\u{e01ef}", "x\\u{fe00}\\u{e0100}\\u{e01ef}"],
  ["fillers that look like nothing", "a\u3164b\u115fc\u034fd\u180ee", "a\\u{3164}b\\u{115f}c\\u{34f}d\\u{180e}e"],
  ["annotations", "\ufff9a\ufffab\ufffb", "\\u{fff9}a\\u{fffa}b\\u{fffb}"],
  ["half of a character", "\ud83c", "\\u{d83c}"],
])("%s is shown as an escape", (_what, text, shown) => {
  expect(printable(text)).toBe(shown)
})

test.each([
  "",
  "plain text",
  "two\nlines\n",
  "a\ttab",
  "Grüße, 汉字, العربية, עברית, हिन्दी",
  "🎉 ❤️ é",
  '{"a": [1]}',
  "\\u{1b}",
])("plain text stays as it is: %j", (text) => {
  expect(printable(text)).toBe(text)
})

/** Written out, so that the test does not look with the eyes of the code. */
const hidden: readonly (readonly [from: number, to: number])[] = [
  [0x0, 0x8],
  [0xb, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0d],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
]
const isHidden = (point: number) => hidden.some(([from, to]) => point >= from && point <= to)
const someHidden = fc
  .oneof(...hidden.map(([min, max]) => fc.integer({ min, max })))
  .map((point) => String.fromCodePoint(point))
const somePlain = fc.oneof(fc.string(), fc.constantFrom("\n", "\t", "汉字", "🎉", "é", "ش"))

test("law: nothing hidden is left, and what it shows is shown the same again", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(someHidden, somePlain, fc.string({ unit: "binary" }))), (pieces) => {
      const shown = printable(pieces.join(""))
      expect(Array.from(shown).filter((character) => isHidden(character.codePointAt(0)!))).toEqual([])
      expect(printable(shown)).toBe(shown)
    }),
    { numRuns: 500 },
  )
})

test("law: plain text stays as it is", () => {
  fc.assert(
    fc.property(fc.array(somePlain), (pieces) => {
      const text = pieces.join("")
      expect(printable(text)).toBe(text)
    }),
  )
})
