import { expect, test } from "vitest"
import { facts, registered } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { editsModeCheck } from "./edits-mode.ts"

const edits = (change: object, { proved = true, what = "src/a", mode = "edits" as "ask" | "edits" } = {}) => {
  const tool = registered({ group: "workspace", effect: "write", touches: true, ...change })
  return lookAtCall(editsModeCheck, facts({ tool, touches: { list: [{ kind: "write", what }], proved } }), { mode })
}

test("the mode edits allows writes of the workspace whose touches are proved, and nothing else", () => {
  expect(edits({})).toMatchObject([
    {
      verdict: "allow",
      check: "mode",
      source: "session s1",
      code: "edits_mode",
      fix: "qm mode ask --agent ada --session s1",
    },
  ])
  expect(edits({ group: "command" })).toEqual([])
  expect(edits({ effect: "execute" })).toEqual([])
  expect(edits({}, { proved: false })).toEqual([])
  expect(edits({ touches: false }, { proved: false })).toEqual([])
  expect(edits({}, { what: "/etc/passwd" })).toEqual([])
  expect(edits({}, { mode: "ask" })).toEqual([])
})
