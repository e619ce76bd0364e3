import fc from "fast-check"
import { expect, test } from "vitest"
import { JsoncError, readJsonc } from "./jsonc.ts"

const plainKeys = fc.constantFrom("a", "b", "servers", "__proto__", "x y", "ä", '"', "//", "/*")
const { value: someValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -1.5e3, "", "text", "// no", "/* no */", '\\"', "\u2028"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(plainKeys, tie("value"), { maxKeys: 3 }),
  ),
}))
const someObject = fc.dictionary(plainKeys, someValue, { maxKeys: 4 })

/** JSON with comments, blanks and a last comma strewn between its signs. Each comment is there once, by its number. */
function strewn(value: unknown, next: () => number): { text: string; comments: string[] } {
  const comments: string[] = []
  const trivia = (): string => {
    const kind = next() % 6
    if (kind === 0) return ""
    if (kind === 1) return "\n   "
    if (kind === 2) return " \t"
    const mark = `note ${comments.length}`
    const comment = kind === 3 ? `// ${mark} "{[,\n` : kind === 4 ? `/* ${mark} \n " } */` : `/*${mark}*/`
    comments.push(comment.trim())
    return comment
  }
  const write = (part: unknown): string => {
    if (typeof part !== "object" || part === null) return JSON.stringify(part)
    const items = Array.isArray(part)
      ? part.map(write)
      : Object.entries(part).map(([key, inner]) => `${JSON.stringify(key)}${trivia()}:${trivia()}${write(inner)}`)
    const inner =
      items.map((item) => trivia() + item + trivia()).join(",") + (items.length > 0 && next() % 2 ? "," : "")
    const [open, close] = Array.isArray(part) ? ["[", "]"] : ["{", "}"]
    return open + inner + trivia() + close
  }
  return { text: trivia() + write(value) + trivia(), comments }
}

const dice = fc.array(fc.nat(30), { minLength: 1, maxLength: 60 }).map((rolls) => {
  let at = 0
  return () => rolls[at++ % rolls.length] ?? 0
})

test("comments and trailing commas are ignored", () => {
  fc.assert(
    fc.property(someObject, dice, (value, next) => {
      const { text } = strewn(value, next)
      expect(readJsonc(text).value).toEqual(value)
    }),
    { numRuns: 500 },
  )
})

test("removing a property changes only that one and keeps the comments outside it", () => {
  fc.assert(
    fc.property(someObject, dice, plainKeys, (value, next, key) => {
      const { text } = strewn(value, next)
      const { [key]: _, ...others } = value
      expect(readJsonc(readJsonc(text).without([key])).value).toEqual(others)
      expect(readJsonc(text).without(["absent", key])).toBe(text)
    }),
    { numRuns: 500 },
  )
  const text = '{\n  "a": { "x": 1 }, // one\n  // two\n  "b": 2\n}\n'
  expect(readJsonc(text).without(["a"])).toBe('{\n   // one\n  // two\n  "b": 2\n}\n')
  expect(readJsonc(text).without(["b"])).toBe('{\n  "a": { "x": 1 } // one\n  // two\n}\n')
})

test("setting a value changes only that value and keeps all comments", () => {
  const path = fc.array(plainKeys, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(someObject, dice, path, someValue, (value, next, steps, put) => {
      const { text, comments } = strewn(value, next)
      const wanted = structuredClone(value)
      let here: Record<string, unknown> = wanted
      for (const step of steps.slice(0, -1)) {
        const inner = Object.hasOwn(here, step) ? here[step] : {}
        fc.pre(typeof inner === "object" && inner !== null && !Array.isArray(inner))
        Object.defineProperty(here, step, { value: inner, enumerable: true, writable: true, configurable: true })
        here = inner as Record<string, unknown>
      }
      const last = steps.at(-1) ?? ""
      const replaces = Object.hasOwn(here, last)
      Object.defineProperty(here, last, { value: put, enumerable: true, writable: true, configurable: true })
      const changed = readJsonc(text).with(steps, put)
      expect(readJsonc(changed).value).toEqual(wanted)
      if (!replaces) for (const comment of comments) expect(changed).toContain(comment)
    }),
    { numRuns: 1000 },
  )
})

test.each([
  ["", '{\n  "a": 1\n}\n'],
  ["{}", '{\n  "a": 1\n}'],
  ['{\n    "b": 2 // two\n}\n', '{\n    "b": 2, // two\n    "a": 1\n}\n'],
  ['{\n\t"b": 2, // two\n}\n', '{\n\t"b": 2, // two\n\t"a": 1\n}\n'],
  ['{ "b": 2 }', '{ "b": 2, "a": 1 }'],
  ['{\r\n  "b": 2\r\n}\r\n', '{\r\n  "b": 2,\r\n  "a": 1\r\n}\r\n'],
  ['\ufeff{ "a": 2 }', '\ufeff{ "a": 1 }'],
  ["// mine\n{\n  // nothing yet\n}", '// mine\n{\n  // nothing yet\n  "a": 1\n}'],
])("%j with a = 1 is %j", (before, after) => {
  expect(readJsonc(before).with(["a"], 1)).toBe(after)
})

test.each([
  ["{", 'line 1, column 2: a name in quotes, or "}" was expected'],
  ['{ "a": }', "line 1, column 8: a value was expected"],
  ['{\n  "a": 1\n  "b": 2 }', 'line 3, column 3: "," was expected'],
  ['{ "a": 1, , }', "a name in quotes"],
  ["{} {}", "nothing after the end was expected"],
  ["{ 'a': 1 }", "a name in quotes"],
  ['{ "a": 01 }', "a value was expected"],
  ['{ "a": "\n" }', 'a closing " was expected'],
  ['{ "a": "\\x" }', "a text whose escapes are right was expected"],
  ["/* {}", "the end of a comment was expected"],
  ["[".repeat(200), "at most 100 levels was expected"],
  ["{ a: 1 }", "a name in quotes"],
  ["<<<<<<< HEAD\n{}", "a value was expected"],
])("%j is refused, with the place", (text, message) => {
  expect(() => readJsonc(text)).toThrow(JsoncError)
  expect(() => readJsonc(text)).toThrow(message)
})

test("a value cannot be set below something that is not an object", () => {
  expect(() => readJsonc('{ "a": [1] }').with(["a", "b"], 1)).toThrow("a is not an object")
  expect(() => readJsonc("[1]").with(["b"], 1)).toThrow("The file is not an object")
})
