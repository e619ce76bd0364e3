import { describe, expect, it } from "vitest"
import type { JsonSchema } from "../core/schema.ts"
import { repairSchema } from "./schema-repair.ts"

const object = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: "object", properties, ...rest })

describe("repair", () => {
  it.each<[string, JsonSchema, JsonSchema]>([
    ["an empty root becomes an object", {}, object({})],
    ["a root without a type gets one", { properties: { a: {} } }, { properties: { a: {} }, type: "object" }],
    ["a root without properties gets them", { type: "object" }, object({})],
    ["a root of another type becomes an object", { type: ["object", "null"], properties: {} }, object({})],
    ["properties that are none become some", { type: "object", properties: null }, object({})],
    ["$schema goes", object({}, { $schema: "http://json-schema.org/draft-07/schema#" }), object({})],
    ["an array gets items", object({ a: { type: "array" } }), object({ a: { type: "array", items: {} } })],
    [
      "an array that may be null gets items",
      object({ a: { type: ["null", "array"], items: undefined } }),
      object({ a: { type: ["null", "array"], items: {} } }),
    ],
    [
      "a tuple gets items",
      object({ a: { type: "array", prefixItems: [{ type: "array" }] } }),
      object({ a: { type: "array", prefixItems: [{ type: "array", items: {} }], items: {} } }),
    ],
    ["an undefined enum goes", object({ a: { type: "string", enum: undefined } }), object({ a: { type: "string" } })],
    ["an empty enum goes", object({ a: { enum: [] } }), object({ a: {} })],
    ["an enum loses what is undefined", object({ a: { enum: ["x", undefined] } }), object({ a: { enum: ["x"] } })],
    ["undefined keywords go", object({ a: { default: undefined }, b: undefined }), object({ a: {} })],
  ])("%s", (_, given, expected) => {
    const before = structuredClone(given)
    expect(repairSchema(given)).toStrictEqual(expected)
    expect(given).toStrictEqual(before)
  })

  it.each([
    ["properties", "named"],
    ["patternProperties", "named"],
    ["$defs", "named"],
    ["definitions", "named"],
    ["dependentSchemas", "named"],
    ["dependencies", "named"],
    ["allOf", "listed"],
    ["anyOf", "listed"],
    ["oneOf", "listed"],
    ["prefixItems", "listed"],
    ["items", "listed"],
    ["items", "bare"],
    ["additionalProperties", "bare"],
    ["unevaluatedProperties", "bare"],
    ["propertyNames", "bare"],
    ["contains", "bare"],
    ["contentSchema", "bare"],
    ["additionalItems", "bare"],
    ["unevaluatedItems", "bare"],
    ["not", "bare"],
    ["if", "bare"],
    ["then", "bare"],
    ["else", "bare"],
  ])("an array schema under %s is found (%s)", (keyword, how) => {
    const wrap = (schema: JsonSchema) =>
      object({ deep: { [keyword]: how === "bare" ? schema : how === "listed" ? [true, schema] : { "a/b": schema } } })
    expect(repairSchema(wrap({ type: "array" }))).toStrictEqual(wrap({ type: "array", items: {} }))
  })

  it("what only looks like a schema is left alone", () => {
    const value = { type: "array", enum: [], $schema: "x" }
    const json = object({
      a: { default: value, const: value, examples: [value], enum: [value] },
      type: { type: "string" },
      enum: { type: "string" },
      $schema: { type: "string" },
      items: { type: "array", items: false },
    })
    expect(repairSchema(json)).toBe(json)
  })

  it("a schema that is fine comes back as the same object, with its references", () => {
    const node = object({ next: { $ref: "#/$defs/node" } })
    const json = object({ list: { $ref: "#/$defs/node" } }, { $defs: { node }, additionalProperties: false })
    expect(repairSchema(json)).toBe(json)
  })

  it("only the way to what was repaired is made anew, and the same repair is given again", () => {
    const [fine, broken] = [{ type: "string" }, { type: "array" }]
    const json = object({ fine, broken })
    const repaired = repairSchema(json)
    expect((repaired["properties"] as JsonSchema)["fine"]).toBe(fine)
    expect(repairSchema(json)).toBe(repaired)
    expect(repairSchema(repaired)).toBe(repaired)
  })

  it("a parameter called __proto__ stays a parameter", () => {
    const json = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"array"}}}') as JsonSchema
    expect(JSON.stringify(repairSchema(json))).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"array","items":{}}}}',
    )
  })
})
