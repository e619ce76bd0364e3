import { expect, test } from "vitest"
import { agent, registered } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { quarantineCheck } from "./quarantine.ts"

test("a tool in quarantine is hidden until a person trusts its definition", () => {
  const tool = { ...registered({ group: "github" }), quarantine: "It has changed." }
  expect(lookVisible(quarantineCheck, tool, agent())).toMatchObject([
    {
      check: "pin",
      source: "github",
      code: "tool_quarantined",
      fix: "qm mcp pins diff github, then qm mcp pins trust github",
    },
  ])
  expect(lookVisible(quarantineCheck, registered(), agent())).toEqual([])
})
