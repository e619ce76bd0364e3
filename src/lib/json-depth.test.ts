import fc from "fast-check"
import { expect, test } from "vitest"
import { isJsonTooDeep } from "./json-depth.ts"

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

test.each([
  ["as deep as may be", nested(200), false],
  ["one level deeper", nested(201), true],
  ["objects count as well", `${'{"a":'.repeat(201)}1${"}".repeat(201)}`, true],
  ["brackets in a text are no levels", JSON.stringify("[".repeat(1000)), false],
  ["an escaped quote does not end a text", JSON.stringify(`"${"[".repeat(1000)}`), false],
  ["a backslash before the end of a text is the text's", `["\\\\",${nested(250)}]`, true],
  ["wide is not deep", JSON.stringify(Array.from({ length: 1000 }, () => [{}])), false],
])("%s", (_, text, expected) => {
  expect(isJsonTooDeep(text)).toBe(expected)
})

test("[law] it counts as going through the whole value does", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
  const around = fc.tuple(fc.nat(230), fc.jsonValue({ maxDepth: 30 }), fc.string({ unit: "binary", maxLength: 300 }))
  fc.assert(
    fc.property(around, ([levels, inner, text]) => {
      let value: unknown = [inner, text, `${text}"[{\\`]
      for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { [`${text}\\"[`]: value } : [value]
      expect(isJsonTooDeep(JSON.stringify(value))).toBe(depthOf(value) > 200)
    }),
    { numRuns: 300 },
  )
})
