import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonSchema } from "../core/schema.ts"
import { repairSchema } from "./schema-repair.ts"

describe("repair", () => {
  it("whatever the schema, its repair has nothing left to repair and the given one is unchanged", () => {
    const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.record(
          {
            type: fc.constantFrom("array", "object", "string", ["array", "null"], undefined),
            enum: fc.constantFrom<unknown>([], undefined, ["a"], [undefined, 1]),
            $schema: fc.constant("https://json-schema.org/draft/2020-12/schema"),
            default: fc.constantFrom<unknown>(undefined, [], { type: "array" }),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
        fc.record(
          {
            type: fc.constantFrom("array", "object"),
            items: fc.option(tie("schema"), { nil: undefined }),
            properties: fc.dictionary(fc.constantFrom("type", "enum", "a", "__proto__"), tie("schema"), {
              noNullPrototype: true,
            }),
            anyOf: fc.array(tie("schema"), { maxLength: 2 }),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
      ),
    }))
    const law = fc.property(schema, (given) => {
      const before = structuredClone(given)
      const repaired = repairSchema(given)
      expect(given).toStrictEqual(before)
      expect(repaired).toMatchObject({ type: "object", properties: {} })
      expect(repaired).toStrictEqual(JSON.parse(JSON.stringify(repaired)))
      expect(repairSchema(structuredClone(repaired))).toStrictEqual(repaired)
      expect(faults(repaired)).toEqual([])
    })
    fc.assert(law, { numRuns: 300 })
  })
})

/** Returns faults that a provider would refuse, found another way: by the three keywords the generator nests. */
function faults(json: JsonSchema): string[] {
  const found = [
    ...([json["type"]].flat().includes("array") && json["items"] === undefined ? ["array without items"] : []),
    ...("enum" in json && !(json["enum"] as unknown[]).length ? ["empty enum"] : []),
    ...("$schema" in json ? ["$schema"] : []),
  ]
  const { items, properties, anyOf } = json as { [keyword: string]: JsonSchema | undefined }
  const below = [items ?? [], Object.values(properties ?? {}), anyOf ?? []].flat() as JsonSchema[]
  return [...found, ...below.flatMap(faults)]
}
