import { test } from "vitest"
import { compileRules } from "./rules.ts"
import { agent, registered, rule, tools } from "../testing.ts"

test("many agents and tools get the right rules, also after the cache was cleared", () => {
  const ruleSet = compileRules([rule("deny", "*", { agent: ["a7"] })], tools)
  const tool = registered({ effect: "none" })
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 60_000; index++) {
      const hidden = ruleSet.select(tool, agent({ id: `a${index % 100}` })).hidden(0) !== undefined
      if (hidden !== (index % 100 === 7)) throw new Error(`Agent a${index % 100} was taken for another.`)
    }
  }
})
