import fc from "fast-check"
import { expect, test } from "vitest"
import { definition } from "../testing/mcp/toolbox.ts"
import {
  escapeHiddenCharacters,
  hiddenCharacters,
  maxDescriptionCharacters,
  definitionSizeProblem,
} from "./scan-definition.ts"

const hides = (description: string) => hiddenCharacters(definition("t", { description })).length > 0

test.each([
  ["a zero-width space", "a\u200bb"],
  ["a joiner between letters", "a\u200db"],
  ["a mark that turns the direction", "a\u202eb"],
  ["an isolate", "a\u2066b"],
  ["a tag character", "a\u{e0041}b"],
  ["a variation selector without an emoji", "a\ufe0fb"],
  ["two variation selectors", "\u26a0\ufe0f\ufe0f"],
  ["a far variation selector", "a\u{e0100}b"],
  ["an escape", "a\u001b[31mb"],
  ["a null", "a\u0000b"],
  ["a lone return", "a\rb"],
  ["a soft hyphen", "a\u00adb"],
  ["a byte order mark", "\ufeffa"],
  ["a filler", "a\u3164b"],
  ["a blank pattern", "a\u2800b"],
  ["a line separator", "a\u2028b"],
  ["half a surrogate pair", "a\ud800b"],
])("%s is hidden", (_what, text) => {
  expect(hides(text)).toBe(true)
  expect(escapeHiddenCharacters(text)).toMatch(/\\u\{[0-9a-f]+\}/)
})

test.each([
  ["plain text", "Reads a file.\n\tIn lines.\r\nLike these."],
  ["other scripts", "读取文件。 Прочитать. اقرأ. पढ़ें. ファイル"],
  ["an emoji with its mark", "\u26a0\ufe0f Careful"],
  ["a family", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
  ["a keycap", "1\ufe0f\u20e3"],
  ["a coloured hand that holds", "\u{1f9d1}\u{1f3fd}\u200d\u{1f52c}"],
])("%s is not hidden", (_what, text) => {
  expect(hides(text)).toBe(false)
  expect(escapeHiddenCharacters(text)).toBe(text)
})

test("every text that a model may read is scanned and reported with its path", () => {
  const text = "x\u200by"
  const places: [string, Parameters<typeof definition>[1] & object][] = [
    ["name", { name: text }],
    ["title", { title: text }],
    ["description", { description: text }],
    ["inputSchema.properties.a.description", { inputSchema: { properties: { a: { description: text } } } }],
    [`inputSchema.properties.${escapeHiddenCharacters(text)}`, { inputSchema: { properties: { [text]: {} } } }],
    ["inputSchema.properties.a.enum.1", { inputSchema: { properties: { a: { enum: ["b", text] } } } }],
    ["outputSchema.title", { outputSchema: { title: text } }],
    ["annotations.title", { annotations: { title: text } }],
  ]
  for (const [where, fields] of places) {
    const sentences = hiddenCharacters(definition("t", fields))
    expect(sentences).toEqual([`Its ${where} has a hidden character (\\u{200b}), near "x\\u{200b}y".`])
  }
})

test("warnings have no hidden characters themselves, and a text without any gets no warning", () => {
  const unit = fc.oneof(
    fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("a", " ", "\n", "\ufe0f", "\u200d", "\u{1f468}", "\u26a0", "\ud800", "\u{e0041}"),
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      const sentences = hiddenCharacters(definition("t", { description: text }))
      expect(sentences.length > 0).toBe(escapeHiddenCharacters(text) !== text)
      for (const sentence of sentences) expect(escapeHiddenCharacters(sentence)).toBe(sentence)
    }),
    { numRuns: 500 },
  )
})

test("a description may have exactly the maximum length", () => {
  expect(definitionSizeProblem(definition("t", { description: "x".repeat(maxDescriptionCharacters) }))).toBeUndefined()
  expect(definitionSizeProblem(definition("t", { description: "x".repeat(maxDescriptionCharacters + 1) }))).toContain(
    "16001",
  )
})
