import { expect, test } from "vitest"
import { agent, registered } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { freezeCheck } from "./freeze.ts"

test("a frozen agent sees nothing, and the call ends as frozen", () => {
  const frozen = { by: "ann", at: Date.UTC(2026, 0, 2, 3), because: "Too fast" }
  expect(lookVisible(freezeCheck, registered(), agent({ frozen }))).toMatchObject([
    {
      check: "freeze",
      source: "freeze",
      code: "agent_frozen",
      params: { agent: "ada", by: "ann", at: "2026-01-02T03:00:00.000Z", thaw: "qm thaw" },
      ending: "frozen",
      fix: "qm thaw",
    },
  ])
  expect(lookVisible(freezeCheck, registered(), agent())).toEqual([])
})

test.each([
  [undefined, "qm thaw"],
  ["ada", "qm thaw --agent ada"],
  ["head of ada", "qm thaw --agent 'head of ada'"],
])("the one command is named that ends the freeze of %s", (agentId, thaw) => {
  const frozen = { by: "ann", at: 0, agentId }
  expect(lookVisible(freezeCheck, registered(), agent({ frozen }))).toMatchObject([{ fix: thaw, params: { thaw } }])
})
