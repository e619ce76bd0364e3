import fc from "fast-check"
import { expect, test } from "vitest"
import { mergeConfigs } from "./merge.ts"
import type { Config } from "./schema.ts"
import { configs, leavesOf } from "./testing.ts"

test("sections merge, lists and single values replace", () => {
  const below: Config = { agent: "a", tools: { timeout: 1, enabled: ["x", "y"], permissions: { x: { minLevel: 1 } } } }
  const above: Config = { tools: { enabled: ["z"], permissions: { x: { dangerous: true } } } }
  expect(mergeConfigs([below, above])).toEqual({
    agent: "a",
    tools: { timeout: 1, enabled: ["z"], permissions: { x: { minLevel: 1, dangerous: true } } },
  })
})

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

test("it does not matter which neighbours are merged first", () => {
  const layer = configs(fc.constantFrom("one", "two")) as fc.Arbitrary<Config>
  fc.assert(
    fc.property(layer, layer, layer, (a, b, c) => {
      expect(mergeConfigs([mergeConfigs([a, b]), c])).toEqual(mergeConfigs([a, mergeConfigs([b, c])]))
    }),
    { numRuns: 300 },
  )
})
