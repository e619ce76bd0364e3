import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { House } from "./house.ts"
import { jsonText } from "./output.ts"
import { parserSentence, settings, wholeNumber } from "./usage.ts"

const house = { printable: (text: string) => text.replace(/(?![\n\t])\p{C}/gu, "?") } as House

test("JSON for a terminal has no character that paints, and is read back as the same value", () => {
  const texts = fc.string({
    unit: fc.constantFrom("a", "中", "\u001b", "\u009b", "\u202e", "\u200b", "\ufeff", "\u{e0041}", "\n", '"'),
  })
  fc.assert(
    fc.property(fc.jsonValue(), texts, fc.constantFrom(undefined, 2), (value, text, indent) => {
      const written = jsonText({ value, text }, house, indent)
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ value, text })))
      expect(written).not.toMatch(/(?!\n)\p{C}/u)
    }),
  )
})

test.each([
  ["error: unknown option '--jsn'\n(Did you mean --json?)", "Unknown option '--jsn'. Did you mean --json?"],
  ["error: missing required argument 'tool'", "Missing required argument 'tool'. Run 'qm help' to see how it is used."],
  [
    "error: too many arguments for 'init'. Expected 0 arguments but got 1.",
    "Too many arguments for 'init'. Expected 0 arguments but got 1. Run 'qm help' to see how it is used.",
  ],
])("%j becomes a sentence", (message, sentence) => expect(parserSentence(message)).toBe(sentence))

test("settings are keys with values, each once; --data is one of them", () => {
  expect(settings(["tools.timeout=5000", "agent=a=b", "__proto__=x"], "here")).toEqual(
    Object.fromEntries([
      ["tools.timeout", "5000"],
      ["agent", "a=b"],
      ["__proto__", "x"],
      ["data.dir", "here"],
    ]),
  )
  expect(() => settings(["tools.timeout"], undefined)).toThrow("--set takes key=value")
  expect(() => settings(["=5"], undefined)).toThrow("--set takes key=value")
  expect(() => settings(["a=1", "a=2"], undefined)).toThrow("'a' is set twice.")
  expect(() => settings(["data.dir=a"], "b")).toThrow("'data.dir' is set twice.")
})

test.each(["0", "-1", "1.5", "abc", "", "1e3", "99999999999999999999"])("'%s' is no count", (text) => {
  expect(() => wholeNumber("--limit", text)).toThrow(`--limit takes a whole number above 0, and '${text}' is none.`)
})
