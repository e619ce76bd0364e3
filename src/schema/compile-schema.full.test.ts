import { expect, test } from "vitest"
import { type JsonSchema } from "../core/schema.ts"
import { compileSchema } from "./compile-schema.ts"

/** Schemas and values whose check would take longer than anybody waits. */
const bombs: [string, JsonSchema, unknown][] = [
  [
    "parts that refer to parts twice",
    {
      type: "object",
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries([
        ...Array.from({ length: 40 }, (_, level) => {
          const next = { $ref: `#/$defs/d${level + 1}` }
          return [`d${level}`, { allOf: [next, next] }] as const
        }),
        ["d40", { type: "object" }],
      ]),
    },
    {},
  ],
  [
    "a choice within a choice",
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/t" } },
      $defs: {
        t: {
          anyOf: ["x", "y"].map((name) => ({
            type: "object",
            properties: { n: { $ref: "#/$defs/t" } },
            required: [name],
          })),
        },
      },
    },
    { a: Array.from({ length: 40 }).reduce<object>((inner) => ({ n: inner }), {}) },
  ],
  [
    "a pattern with many counts",
    { type: "object", properties: { a: { type: "string", pattern: "(a?){1000}[bc]$" } } },
    { a: "a".repeat(100_000) },
  ],
  [
    "a pattern of names",
    { type: "object", patternProperties: { "(a?){1000}[bc]$": {} } },
    { ["a".repeat(100_000)]: 1 },
  ],
  [
    "all compared with all",
    { type: "object", properties: { a: { type: "array", uniqueItems: true } } },
    { a: Array.from({ length: 400_000 }, (_, index) => index) },
  ],
]

test.each(bombs)("a check that would take for ever ends with a sentence: %s", (_what, schema, value) => {
  const compiled = compileSchema(schema as never, "refuse")
  expect(compiled.check(value)).toEqual({
    ok: false,
    problems: [expect.stringContaining("takes too long to check") as string],
  })
  expect(compiled.check("text")).toMatchObject({ ok: false })
})
