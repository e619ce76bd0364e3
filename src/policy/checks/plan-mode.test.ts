import { expect, test } from "vitest"
import { facts, registered } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { planModeCheck } from "./plan-mode.ts"

test.each([
  ["none", 0],
  ["read", 0],
  ["write", 1],
  ["execute", 1],
  ["network", 1],
  ["communicate", 1],
  [undefined, 1],
] as const)("in the mode plan a tool with the effect %s is denied %d times; a question never", (effect, count) => {
  const given = effect ? { effect } : {}
  const results = lookAtCall(planModeCheck, facts({ tool: registered(given) }), { mode: "plan" })
  expect(results).toHaveLength(count)
  if (count === 1)
    expect(results).toMatchObject([
      { check: "mode", source: "agent ada", code: "plan_mode", fix: "qm mode ask --agent ada" },
    ])
  const question = facts({ tool: registered({ kind: "interactive", ...given }) })
  expect(lookAtCall(planModeCheck, question, { mode: "plan" })).toEqual([])
  for (const mode of ["ask", "edits"] as const)
    expect(lookAtCall(planModeCheck, facts({ tool: registered(given) }), { mode })).toEqual([])
})

test("a call that only reads with this input may run in the mode plan", () => {
  const onlyReads = (input: unknown) => (input as { preview: boolean }).preview
  const tool = registered({ effect: "write", onlyReads })
  const count = (preview: boolean) =>
    lookAtCall(planModeCheck, facts({ tool, input: { preview } }), { mode: "plan" }).length
  expect([true, false].map(count)).toEqual([0, 1])
})
