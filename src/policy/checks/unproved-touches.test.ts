import { expect, test } from "vitest"
import { facts, heldCall, registered, rule } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { unprovedTouchesCheck } from "./unproved-touches.ts"

const touches = { list: [], proved: false }
const call = facts({ tool: registered({ touches: true }), touches })

test("touches that could not be proved ask, and only a person lifts it", () => {
  expect(lookAtCall(unprovedTouchesCheck, call)).toMatchObject([
    { verdict: "ask", check: "guard", source: "system:probe@1.0.0", code: "touches_unproved", binding: true },
  ])
})

test("a tool that declares no touches, proved touches, and a guard that asks already are not asked about", () => {
  const reason = { check: "guard", source: "command", code: "test", sentence: "It asks." }
  for (const fine of [
    facts({ tool: registered(), touches }),
    facts({ tool: registered({ touches: true }) }),
    { ...call, findings: [{ verdict: "ask" as const, reason }] },
  ])
    expect(lookAtCall(unprovedTouchesCheck, fine)).toEqual([])
})

test("a call that bubblewrap holds is asked about for each rule that may be about what it touches", () => {
  const touching = { touching: ["write:db/**"] }
  const rules = [
    rule("deny", "*", { ...touching, source: "quartermaster.yml rules[0]" }),
    rule("allow", "*", touching),
    rule("deny", "*", { ...touching, shadow: true }),
    rule("deny", "*", { ...touching, args: { "/a": "b" } }),
    rule("ask", "*"),
  ]
  expect(lookAtCall(unprovedTouchesCheck, heldCall(call), { rules })).toMatchObject([
    { source: "quartermaster.yml rules[0]", code: "touches_unproved_for_rule", binding: true },
  ])
  expect(lookAtCall(unprovedTouchesCheck, heldCall(call))).toEqual([])
})
