import { describe, expect, test } from "vitest"
import { problemsByPath, problemsInSentence } from "./problems.ts"
import { kindOf, optionsOf, propertiesOf, rangeOf, withValue } from "./schema.ts"

describe("the field of a schema", () => {
  test.each([
    [{ type: "string" }, "text"],
    [{ type: ["string", "null"] }, "text"],
    [{ type: "integer", minimum: 1 }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "string", enum: ["a", "b"] }, "choice"],
    [{ anyOf: [{ const: "a" }, { const: "b" }] }, "choice"],
    [{ enum: ["a", { b: 1 }] }, "json"],
    [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "array", items: { type: "object", properties: { a: { type: "string" } } } }, "list"],
    [{ type: "array", items: {} }, "json"],
    [{ type: "object", properties: { a: { type: "string" } } }, "object"],
    [{ type: "object", additionalProperties: { type: "string" } }, "map"],
    [{ type: "object", additionalProperties: {} }, "json"],
    [{ anyOf: [{ type: "string" }, { type: "object" }] }, "text or JSON"],
    [{ anyOf: [{ type: "number" }, { type: "object" }] }, "json"],
    [{}, "json"],
  ])("%j is edited as %s", (schema, kind) => expect(kindOf(schema)).toBe(kind))

  test("lists required properties first", () => {
    const schema = { properties: { a: {}, b: {}, c: {} }, required: ["b"] }
    expect(propertiesOf(schema).map(({ name }) => name)).toEqual(["b", "a", "c"])
  })

  test("says no limit that is only the largest safe integer", () => {
    expect(rangeOf({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toEqual({ from: 1 })
  })

  test("offers what anyOf lists as constants", () => {
    expect(optionsOf({ anyOf: [{ const: 1 }, { const: 2 }] })).toEqual([1, 2])
  })
})

test("a value that becomes undefined is left out", () => {
  expect(withValue({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 })
  expect(withValue(undefined, "a", 0)).toEqual({ a: 0 })
})

describe("problems with an input", () => {
  const sentence =
    "Validation failed: Parameter 'a.b[0]' expected string, got number, Missing required parameter: path. Correct the input of read_file."

  test("are taken out of the sentence that lists them", () => {
    expect(problemsInSentence(sentence)).toEqual([
      "Parameter 'a.b[0]' expected string, got number",
      "Missing required parameter: path",
    ])
  })

  test("stand at their fields, the others above the form", () => {
    const problems = [...problemsInSentence(sentence), "Parameter 'input' must be a plain JSON object"]
    expect(problemsByPath(problems)).toEqual({
      byPath: {
        "a.b[0]": "Parameter 'a.b[0]' expected string, got number",
        path: "Missing required parameter: path",
      },
      other: ["Parameter 'input' must be a plain JSON object"],
    })
  })
})
