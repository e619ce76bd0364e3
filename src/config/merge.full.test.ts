import fc from "fast-check"
import { expect, test } from "vitest"
import { mergeConfigs } from "./merge.ts"
import type { Config } from "./schema.ts"
import { configs, leavesOf } from "./testing.ts"

test("every value is the one of the last layer that has it, and nothing else appears", () => {
  fc.assert(
    fc.property(fc.array(configs(fc.constantFrom("one", "two")), { maxLength: 4 }), (layers) => {
      const expected = new Map(layers.flatMap((layer) => [...leavesOf(layer)]))
      const merged = leavesOf(mergeConfigs(layers as Config[]))
      expect(Object.fromEntries(merged)).toEqual(Object.fromEntries(expected))
    }),
    { numRuns: 300 },
  )
})
