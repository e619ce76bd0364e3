import fc from "fast-check"
import { expect, test } from "vitest"
import { printable, printableJson } from "./printable.ts"
import { agentText, hiddenCharacter, hiddenCharactersIn } from "../approvals/ask/testing.ts"

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
  ["marks for emoji where there is no emoji", "a\ufe0fb\ufe0e", "a\\u{fe0f}b\\u{fe0e}"],
  ["a second mark behind an emoji", "❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f\\u{fe0f}\\u{fe0e}"],
  ["code points that are no characters", "\uffff\u{1fffe}\ufdd0", "\\u{ffff}\\u{1fffe}\\u{fdd0}"],
  ["controls of hieroglyphs and a mark of Syriac", "\u{13430}\u070f", "\\u{13430}\\u{70f}"],
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
  "🎉 ❤️ é 1️⃣ #️⃣",
  '{"a": [1]}',
  "\\u{1b}",
])("plain text stays as it is: %j", (text) => {
  expect(printable(text)).toBe(text)
})

const somePlain = fc.oneof(fc.string(), fc.constantFrom("\n", "\t", "汉字", "🎉", "é", "ش"))

test("law: nothing hidden is left, and what it shows is shown the same again", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(hiddenCharacter, somePlain, fc.string({ unit: "binary" }))), (pieces) => {
      const shown = printable(pieces.join(""))
      expect(hiddenCharactersIn(shown)).toEqual([])
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

test("law: JSON shown to people hides nothing and is the same JSON", () => {
  const value = fc.oneof(fc.dictionary(agentText, agentText), fc.array(agentText), fc.jsonValue())
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      const text = printableJson(given, indent)
      expect(hiddenCharactersIn(text)).toEqual([])
      expect(printable(text)).toBe(text)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(given)))
    }),
    { numRuns: 300 },
  )
})
