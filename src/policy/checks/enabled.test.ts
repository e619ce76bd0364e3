import { expect, test } from "vitest"
import { agent, registered } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { enabledCheck } from "./enabled.ts"

test("a tool that is switched off is hidden", () => {
  expect(lookVisible(enabledCheck, { ...registered(), enabled: false }, agent())).toMatchObject([
    { check: "configuration", source: "tools.enabled", code: "tool_switched_off", fix: "Add probe to tools.enabled" },
  ])
  expect(lookVisible(enabledCheck, registered(), agent())).toEqual([])
})

test("a tool that is off because another one is missing is left to the dependency check", () => {
  const tool = { ...registered(), enabled: false, missingDependencies: ["oven"] }
  expect(lookVisible(enabledCheck, tool, agent())).toEqual([])
})
