import fc from "fast-check"
import { expect, test } from "vitest"
import { mergeConfigs } from "./merge.ts"
import type { Config } from "./schema.ts"
import { configs } from "./testing.ts"

test("sections merge, lists and single values replace", () => {
  const below: Config = { agent: "a", tools: { timeout: 1, enabled: ["x", "y"], permissions: { x: { minLevel: 1 } } } }
  const above: Config = { tools: { enabled: ["z"], permissions: { x: { dangerous: true } } } }
  expect(mergeConfigs([below, above])).toEqual({
    agent: "a",
    tools: { timeout: 1, enabled: ["z"], permissions: { x: { minLevel: 1, dangerous: true } } },
  })
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
