import { expect, test } from "vitest"
import { openAgentTokens } from "./testing/open-agent-tokens.ts"

test("finding a token's holder among two hundred takes a few microseconds", async () => {
  const { tokens } = await openAgentTokens()
  const { token } = await tokens.create({ agentId: "one" }, "ann")
  for (let count = 0; count < 200; count++) await tokens.create({ agentId: "two" }, "ann")
  const rounds = Array.from({ length: 20 }, () => {
    const start = process.hrtime.bigint()
    for (let turn = 0; turn < 500; turn++) tokens.holder(token)
    return Number(process.hrtime.bigint() - start) / 500
  })
  expect(Math.min(...rounds)).toBeLessThan(5000)
})
