import { expect, test } from "vitest"
import { agent, registered } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { unknownAgent } from "../decide/visible.ts"
import { agentCheck } from "./agent.ts"

test("an agent that is not known sees no tool, and the fix creates it", () => {
  const { verdict, reason, fix } = unknownAgent("ghost")
  expect({ verdict, reason, fix: fix?.() }).toMatchObject({
    verdict: "deny",
    reason: { check: "agent", source: "organisation", code: "agent_unknown" },
    fix: "qm agents create ghost --role <role>",
  })
  expect(lookVisible(agentCheck, registered(), agent())).toEqual([])
})

test("an id with odd characters is quoted for the shell", () => {
  expect(unknownAgent("a'b; rm -rf ~").fix?.()).toBe(String.raw`qm agents create 'a'\''b; rm -rf ~' --role <role>`)
})
