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
      params: { agent: "ada", by: "ann", at: "2026-01-02T03:00:00.000Z" },
      ending: "frozen",
      fix: "qm thaw --agent ada (or 'qm thaw' if everyone is frozen)",
    },
  ])
  expect(lookVisible(freezeCheck, registered(), agent())).toEqual([])
})
