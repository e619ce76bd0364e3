import { describe, expect, it, test } from "vitest"
import { z } from "zod"
import { z as z3 } from "zod/v3"
import { errorOf, ToolValidationError } from "../core/errors.ts"
import { failedWith } from "../core/result.ts"
import type { ToolParameter } from "../core/schema.ts"
import { type ValidationResult, type JsonSchema, type Schema, type SchemaSource } from "../core/schema.ts"
import { compileSchema, type UnknownProperties } from "./compile-schema.ts"

const compile = (source: unknown, unknown: UnknownProperties = "refuse"): Schema =>
  compileSchema(source as SchemaSource<never>, unknown)
const problems = (checked: ValidationResult): string[] => (checked.ok ? [] : checked.problems)

/** The same input stated in three ways. */
const asZod = z.object({
  path: z.string(),
  depth: z.number().default(3),
  mode: z.enum(["fast", "safe"]).optional(),
  loud: z.boolean().optional(),
  tags: z.array(z.string()).default(["a"]),
  extra: z.record(z.string(), z.unknown()).optional(),
})
const asJson = {
  type: "object",
  properties: {
    path: { type: "string" },
    depth: { type: "number", default: 3 },
    mode: { type: "string", enum: ["fast", "safe"] },
    loud: { type: "boolean" },
    tags: { type: "array", items: { type: "string" }, default: ["a"] },
    extra: { type: "object" },
  },
  required: ["path"],
  additionalProperties: false,
}
const asList: ToolParameter[] = [
  { name: "path", type: "string", description: "", required: true },
  { name: "depth", type: "number", description: "", required: false, default: 3 },
  { name: "mode", type: "string", description: "", required: false, enum: ["fast", "safe"] },
  { name: "loud", type: "boolean", description: "", required: false },
  { name: "tags", type: "array", description: "", required: false, default: ["a"], items: { type: "string" } },
  { name: "extra", type: "object", description: "", required: false },
]

describe.each<[string, SchemaSource<never>]>([
  ["a Zod schema", asZod as never],
  ["a JSON Schema", asJson],
  ["a list of parameters", asList],
])("%s", (_, source) => {
  const schema = compile(source)

  it.each([
    ["what is missing", {}, "Missing required parameter: path"],
    ["what is undefined", { path: undefined }, "Missing required parameter: path"],
    ["a number for a text", { path: 1 }, "Parameter 'path' expected string, got number"],
    ["a text for a number", { path: "", depth: "3" }, "Parameter 'depth' expected number, got string"],
    ["a text for a boolean", { path: "", loud: "true" }, "Parameter 'loud' expected boolean, got string"],
    ["an object for a list", { path: "", tags: {} }, "Parameter 'tags' expected array, got object"],
    ["a list for an object", { path: "", extra: [] }, "Parameter 'extra' expected object, got array"],
    ["an object for a text", { path: {} }, "Parameter 'path' expected string, got object"],
    ["a word outside the list", { path: "", mode: "slow" }, "Parameter 'mode' must be one of: fast, safe"],
    ["not a number", { path: "", depth: Number.NaN }, "Parameter 'depth' expected number, got NaN"],
    ["null for what is required", { path: null }, "Parameter 'path' expected string, got null"],
    ["null for what may be left out", { path: "", loud: null }, "Parameter 'loud' expected boolean, got null"],
    ["a slip in a name", { path: "", dpeth: 1 }, "Unknown parameter 'dpeth'. Did you mean 'depth'?"],
    [
      "no name at all",
      { path: "", zzzzzz: 1 },
      "Unknown parameter 'zzzzzz'. It takes: path, depth, mode, loud, tags, extra.",
    ],
    ["a name of every object", JSON.parse('{"path":"","constructor":1}'), "Unknown parameter 'constructor'."],
    ["the name of a prototype", JSON.parse('{"path":"","__proto__":{"depth":1}}'), "Unknown parameter '__proto__'."],
    ["a text instead of an object", "path", "Parameter 'input' expected object, got string"],
    ["null instead of an object", null, "Parameter 'input' expected object, got null"],
    ["a list instead of an object", [], "Parameter 'input' expected object, got array"],
  ])("%s is answered in S3's words", (_, input, problem) => {
    const found = problems(schema.check(input))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
  })

  it("finds every problem at once", () => {
    const found = problems(schema.check({ depth: "3", mode: "slow", loud: 1, colour: "red" }))
    expect(found.toSorted()).toEqual([
      "Missing required parameter: path",
      "Parameter 'depth' expected number, got string",
      "Parameter 'loud' expected boolean, got number",
      "Parameter 'mode' must be one of: fast, safe",
      expect.stringContaining("Unknown parameter 'colour'."),
    ])
  })

  it("fills in defaults, coerces nothing, and leaves the given input as it was", () => {
    const input = Object.freeze({ path: "1", mode: "fast", extra: Object.freeze({ deep: Object.freeze([1]) }) })
    expect(schema.check(input)).toEqual({ ok: true, value: { ...input, depth: 3, tags: ["a"] } })
    expect(input).toEqual({ path: "1", mode: "fast", extra: { deep: [1] } })
    const given = { path: "", depth: 0, tags: [] }
    expect(schema.check(given)).toEqual({ ok: true, value: given })
  })

  it("a default that somebody changed is fresh the next time", () => {
    const first = schema.check({ path: "" }) as { value: { tags: string[] } }
    first.value.tags.push("b")
    expect(schema.check({ path: "" })).toMatchObject({ value: { tags: ["a"] } })
  })

  it("what comes as __proto__ reaches no other object", () => {
    schema.check(JSON.parse('{"path":"","__proto__":{"polluted":1},"extra":{"__proto__":{"polluted":1}}}'))
    expect("polluted" in {}).toBe(false)
  })

  it("tells the model names, types, enums and defaults", () => {
    expect(schema.json).toMatchObject({
      type: "object",
      properties: {
        path: { type: "string" },
        depth: { type: "number", default: 3 },
        mode: { type: "string", enum: ["fast", "safe"] },
        loud: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        extra: { type: "object" },
      },
      required: ["path"],
    })
  })

  it("what it finds becomes a ToolValidationError that lists every problem", () => {
    const found = problems(schema.check({ depth: "3" }))
    const ended = { callId: "c", toolName: "t", version: "1.0.0", startedAt: 0, metadata: { problems: found } }
    const error = errorOf(failedWith("invalid_arguments", "Validation failed.", ended))
    expect(error).toBeInstanceOf(ToolValidationError)
    expect(error.message).toBe("Parameter validation failed")
    expect((error.cause as string[]).toSorted()).toEqual([
      "Missing required parameter: path",
      "Parameter 'depth' expected number, got string",
    ])
  })
})

describe("a Zod schema", () => {
  it("names places inside with dots and brackets, and kinds as JSON does", () => {
    const schema = compile(
      z.object({
        list: z.array(z.object({ name: z.string() })),
        count: z.int(),
        map: z.record(z.string(), z.number()),
        pair: z.tuple([z.string()]),
        three: z.literal(3),
        either: z.union([z.string(), z.number()]),
        short: z.string().max(2),
      }),
    )
    const input = { list: [{ name: 1 }, {}], count: 1.5, map: 1, pair: 1, three: 4, either: true, short: "abc" }
    expect(problems(schema.check(input))).toEqual([
      "Parameter 'list[0].name' expected string, got number",
      "Missing required parameter: list[1].name",
      "Parameter 'count' expected integer, got number",
      "Parameter 'map' expected object, got number",
      "Parameter 'pair' expected array, got number",
      "Parameter 'three' must be one of: 3",
      "Parameter 'either' matches none of the forms it may have",
      expect.stringMatching(/^Parameter 'short' too big/),
    ])
    expect(problems(schema.check({}))).toHaveLength(7)
    expect(problems(schema.check({})).every((problem) => problem.startsWith("Missing required"))).toBe(true)
  })

  it("as an input is closed, unless its author opened it; as an output it drops the rest", () => {
    const source = z.object({ a: z.string() })
    const input = { a: "x", b: 1 }
    expect(problems(compile(source).check(input))).toEqual(["Unknown parameter 'b'. It takes: a."])
    expect(compile(source, "output").check(input)).toEqual({ ok: true, value: { a: "x" } })
    expect(compile(source.loose()).check(input)).toEqual({ ok: true, value: input })
    expect(compile(source).json["additionalProperties"]).toBe(false)
  })

  it("of a tool that is not ours drops what it does not name, and the model is told to send nothing else", () => {
    const source = z.object({ a: z.string() })
    const input = { a: "x", b: 1 }
    expect(compile(source, "drop").check(input)).toEqual({ ok: true, value: { a: "x" } })
    expect(compile(source, "drop").json).toEqual(compile(source).json)
    expect(problems(compile(source.strict(), "drop").check(input))).toEqual(["Unknown parameter 'b'. It takes: a."])
    expect(compile(source.loose(), "drop").check(input)).toEqual({ ok: true, value: input })
    const wish = { a: "x", require_confirmation: true }
    expect(problems(compile(source, "drop").check(wish))).toEqual(["Unknown parameter 'require_confirmation'. It takes: a."]) // prettier-ignore
  })

  it("does not guess what an inner object takes", () => {
    const schema = compile(z.object({ inner: z.strictObject({ a: z.string() }) }))
    expect(problems(schema.check({ inner: { a: "", b: 1 } }))).toEqual(["Unknown parameter 'inner.b'."])
  })

  it("that is no object can still be missing", () => {
    expect(problems(compile(z.enum(["a"])).check(undefined))).toEqual(["Missing required parameter: input"])
  })
})

describe("a JSON Schema", () => {
  const about = (property: JsonSchema, rest: JsonSchema = {}) => ({
    type: "object",
    properties: { x: property },
    ...rest,
  })
  const problemsOf = (property: JsonSchema, x: unknown) => problems(compile(about(property)).check({ x }))

  it("reaches the model unchanged", () => {
    const json = { ...about({ type: "string" }), $schema: "http://json-schema.org/draft-07/schema#", "x-more": [1] }
    const before = structuredClone(json)
    expect(compile(json).json).toBe(json)
    compile(json).check({ x: 1, y: 2 })
    expect(json).toEqual(before)
  })

  it.each([
    [{ type: ["string", "null"] }, 1, "Parameter 'x' expected string or null, got number"],
    [{ type: "integer" }, 1.5, "Parameter 'x' expected integer, got number"],
    [{ enum: ["a", null, { b: 1 }] }, "b", `Parameter 'x' must be one of: a, null, {"b":1}`],
    [{ const: 3 }, 4, "Parameter 'x' must be one of: 3"],
    [{ minimum: 3 }, 2, "Parameter 'x' must be >= 3"],
    [{ format: "email" }, "a", `Parameter 'x' must match format "email"`],
    [{ type: "array", items: { type: "string" } }, ["a", 1], "Parameter 'x[1]' expected string, got number"],
  ])("%j says no to %j in a sentence", (property, x, sentence) => {
    expect(problemsOf(property, x)).toEqual([sentence])
  })

  it("lets null through exactly where it is allowed", () => {
    expect(problemsOf({ type: ["string", "null"] }, null)).toEqual([])
    expect(problemsOf({ type: "string" }, null)).toEqual(["Parameter 'x' expected string, got null"])
    expect(problemsOf({ enum: [null] }, null)).toEqual([])
  })

  it("is used as it is written: it takes other parameters unless it says that it does not", () => {
    const extra = (json: JsonSchema) => problems(compile(json).check({ x: "", y: 1 }))
    const [named, said] = [about({ type: "string" }), "Unknown parameter 'y'. It takes: x."]
    expect(extra(named)).toEqual([])
    expect(compile(named).check({ x: "", y: 1 })).toEqual({ ok: true, value: { x: "", y: 1 } })
    expect(extra({ ...named, additionalProperties: false })).toEqual([said])
    expect(extra({ ...named, unevaluatedProperties: false })).toEqual([said])
    expect(extra({ ...named, additionalProperties: true })).toEqual([])
    expect(extra({ ...named, patternProperties: { "^y": {} } })).toEqual([])
    expect(extra({ ...named, allOf: [{ properties: { y: {} } }] })).toEqual([])
    expect(extra({ type: "object" })).toEqual([])
  })

  it("names what an inner object takes, also behind a reference and an odd name", () => {
    const inner = { type: "object", properties: { title: {} }, additionalProperties: false }
    const json = {
      type: "object",
      properties: { "a%/b": inner, list: { type: "array", items: { $ref: "#/$defs/inner" } } },
      $defs: { inner },
    }
    expect(problems(compile(json).check({ "a%/b": { titel: 1 }, list: [{ titel: 1 }] }))).toEqual([
      "Unknown parameter 'a%/b.titel'. Did you mean 'title'?",
      "Unknown parameter 'list[0].titel'. Did you mean 'title'?",
    ])
  })

  describe("of a draft", () => {
    const tuple = [{ type: "string" }]
    it.each([
      ["http://json-schema.org/draft-07/schema#", { items: tuple, additionalItems: false }],
      ["http://json-schema.org/draft-07/schema", { items: tuple, additionalItems: false }],
      ["https://json-schema.org/draft-07/schema#", { items: tuple, additionalItems: false }],
      ["https://json-schema.org/draft/2020-12/schema", { prefixItems: tuple, items: false }],
      ["https://json-schema.org/draft/2020-12/schema#", { prefixItems: tuple, items: false }],
      [undefined, { prefixItems: tuple, items: false }],
    ])("%s is read by that draft", ($schema, property) => {
      const schema = compile(about({ type: "array", ...property }, $schema === undefined ? {} : { $schema }))
      expect(problems(schema.check({ x: ["a"] }))).toEqual([])
      expect(problems(schema.check({ x: [1] }))).toEqual(["Parameter 'x[0]' expected string, got number"])
      expect(problems(schema.check({ x: ["a", "b"] }))).toHaveLength(1)
    })

    it("that is not known is refused by name", () => {
      const json = about({}, { $schema: "http://json-schema.org/draft-04/schema#" })
      expect(() => compile(json)).toThrow("'http://json-schema.org/draft-04/schema#' is not supported; write it for")
    })
  })

  describe("with a pattern", () => {
    const fits = (pattern: string, text: string) => problemsOf({ type: "string", pattern }, text).length === 0

    it.each([
      ["^abc$", "abc", "abcd"],
      ["^xyz$", "xyz", "abc"],
      ["b", "abc", "acd"],
      ["^\\d{3}-\\w+$", "123-ab", "12-ab"],
      ["^\\u00e9a$", "éa", "ea"],
      ["^\\u{1F600}$", "😀", "a"],
      ["^\\ud83d\\ude00$", "😀", "a"],
      ["^\\\\ud83d\\\\ude00$", "\\ud83d\\ude00", "😀"],
      ["^.$", "😀", "😀😀"],
      ["^[\\u4e00-\\u9fff]+$", "中文", "abc"],
      ["^(?<year>\\d+)$", "2024", "x"],
      ["^\\p{L}+$", "né", "n1"],
      ["^a$", "a", "a\n"],
    ])("%s takes %j and refuses %j", (pattern, good, bad) => {
      expect(fits(pattern, good)).toBe(true)
      expect(fits(pattern, bad)).toBe(false)
      expect(problemsOf({ type: "string", pattern }, bad)).toEqual([`Parameter 'x' must match pattern "${pattern}"`])
    })

    it("that would hang a common engine is answered rightly", () => {
      const long = "a".repeat(5000)
      for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a*)*b?$"]) {
        expect(fits(pattern, long)).toBe(true)
        expect(fits(pattern, `${long}!`)).toBe(false)
      }
      const named = compile({ type: "object", patternProperties: { "^(a+)+$": { type: "string" } } })
      expect(problems(named.check({ [long]: 1, [`${long}!`]: 1 }))).toEqual([
        `Parameter '${long}' expected string, got number`,
      ])
    })

    it.each(["(?=a)b", "(?!a)b", "(?<=a)b", "(a)\\1", "^.{1,5000}$", "["])(
      "%s is refused with a sentence that names it",
      (pattern) => {
        const refused = () => compile(about({ type: "string", pattern }))
        expect(refused).toThrow(`The JSON Schema cannot be used: the pattern '${pattern}' cannot be matched in linear`)
        expect(refused).toThrow("Write it without look-around, back references and counts above 1000.")
      },
    )
  })

  describe("that is too large", () => {
    const nested = (depth: number): JsonSchema => (depth === 0 ? {} : { not: nested(depth - 1) })

    it("is refused for its depth, also when it contains itself", () => {
      const cyclic: Record<string, unknown> = { type: "object" }
      cyclic["properties"] = { self: cyclic }
      expect(() => compile(cyclic)).toThrow("The schema is nested deeper than 64 levels; flatten it.")
      expect(() => compile(nested(66))).toThrow("The schema is nested deeper than 64 levels; flatten it.")
      expect(compile(nested(64)).check({})).toEqual({ ok: true, value: {} })
    })

    it("is refused for its parts", () => {
      const names = Array.from({ length: 20_001 }, (_, index) => index)
      expect(() => compile({ enum: names })).toThrow("The schema has too many parts; split the tool.")
    })

    it("is refused for its length", () => {
      expect(() => compile({ description: "x".repeat(256 * 1024) })).toThrow("longer than 262144 characters; split the")
      expect(compile({ description: "x".repeat(200 * 1024) }).check(1)).toEqual({ ok: true, value: 1 })
    })
  })

  it("that cannot be read is refused with a sentence", () => {
    expect(() => compile({ type: "text" })).toThrow("The JSON Schema cannot be used: ")
    expect(() => compile(about({ $ref: "#/$defs/nowhere" }))).toThrow("The JSON Schema cannot be used: can't resolve")
  })

  it("cannot make its judge lazy: $async changes nothing", () => {
    const schema = compile(about({ type: "string" }, { $async: true }))
    expect(problems(schema.check({ x: 1 }))).toEqual(["Parameter 'x' expected string, got number"])
  })

  it("does not meet the names of another: each $id means its own", () => {
    const named = (type: string) => about({ $id: "https://example.com/x", type })
    const [texts, numbers] = [compile(named("string")), compile(named("number"))]
    expect(problems(texts.check({ x: 1 }))).toEqual(["Parameter 'x' expected string, got number"])
    expect(problems(numbers.check({ x: "" }))).toEqual(["Parameter 'x' expected number, got string"])
    const thief = about({ $ref: "https://example.com/x" })
    expect(() => compile(thief)).toThrow("can't resolve reference https://example.com/x")
  })

  it("may call its parts by its own $id, and the same $id may come twice", () => {
    const $id = "https://example.com/whole"
    const json = about({ $ref: `${$id}#/$defs/text` }, { $id, $defs: { text: { type: "string" } } })
    for (let time = 0; time < 2; time++) {
      expect(problems(compile(json).check({ x: 1 }))).toEqual(["Parameter 'x' expected string, got number"])
      expect(problems(compile(about({ type: "number" }, { $id })).check({ x: 1 }))).toEqual([])
    }
  })

  it("asks for parameters with names of every object like for any other", () => {
    const json = {
      type: "object",
      properties: { constructor: { type: "string" } },
      required: ["constructor", "toString"],
    }
    expect(problems(compile(json).check({}))).toEqual([
      "Missing required parameter: constructor",
      "Missing required parameter: toString",
    ])
    const optional = { type: "object", properties: { constructor: { type: "string" } } }
    expect(compile(optional).check({})).toEqual({ ok: true, value: {} })
  })

  it("says of something that no JSON can hold that it cannot judge it", () => {
    expect(problems(compile({ type: "object" }).check({ work() {} }))).toEqual(["Parameter 'input' must be JSON data"])
    expect(problems(compile({ type: "object" }).check(undefined))).toEqual([
      "Parameter 'input' expected object, got undefined",
    ])
  })
})

describe.each([
  ["a JSON Schema", asJson],
  ["a list of parameters", asList],
])("%s", (_, source) => {
  it("does not take from a prototype what is missing", () => {
    const inherited = Object.create({ path: "inherited" }) as object
    expect(problems(compile(source).check(inherited))).toEqual(["Missing required parameter: path"])
  })
})

describe("a source", () => {
  it("that is ready for use is used as it is", () => {
    const ready: Schema = { json: { type: "object" }, check: (value) => ({ ok: true, value }) }
    expect(compileSchema(ready, "refuse")).toBe(ready)
    class Own implements Schema {
      readonly json = { type: "object" }
      check = (value: unknown): ValidationResult => ({ ok: true, value })
    }
    const own = new Own()
    expect(compileSchema(own, "output")).toBe(own)
  })

  it("with a property called json or check is a JSON Schema", () => {
    const json = { type: "object", json: true, check: "no function" }
    expect(compile(json).json).toBe(json)
    expect(problems(compile(json).check(1))).toEqual(["Parameter 'input' expected object, got number"])
  })

  it.each([["text"], [true], [7], [null], [undefined], [() => ({})], [new Map()]])(
    "%o is no schema, and that is said at once",
    (source) => {
      expect(() => compile(source)).toThrow(
        "A schema must be a Zod 4 schema, a JSON Schema object or a list of parameters; give one of these.",
      )
    },
  )
})

test.each([
  ["an object", z3.object({ path: z3.string() })],
  ["a text", z3.string().optional()],
  ["an effect", z3.object({}).refine(() => true)],
])("a schema of Zod 3 is refused with what to do: %s", (_, source) => {
  expect(() => compile(source)).toThrow(/^This is a schema of Zod 3, .*npm install zod@4/)
})

test("a thousand problems are told as a hundred", () => {
  const many = compileSchema(
    { type: "object", properties: { a: { type: "array", items: { type: "string" } } }, additionalProperties: false },
    "refuse",
  )
  const wrong = many.check({ a: Array.from({ length: 1000 }, () => 1) })
  expect(wrong.ok ? 0 : wrong.problems.length).toBe(100)
  const unknown = many.check(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1])))
  expect(unknown.ok ? 0 : unknown.problems.length).toBe(100)
})

test.each([
  ["Zod", z.object({ a: z.string() })],
  ["a closed JSON Schema", { type: "object", properties: { a: { type: "string" } }, additionalProperties: false }],
])("of very many unknown parameters the first hundred are said, and no more is checked: %s", (_what, source) => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]))
  const checked = compileSchema(source as never, "refuse").check({ ...many, a: 1 })
  expect(checked).toMatchObject({ ok: false })
  expect(!checked.ok && checked.problems).toHaveLength(100)
  expect(!checked.ok && checked.problems.every((problem) => problem.startsWith("Unknown parameter"))).toBe(true)
})
