import { expect, test } from "vitest"
import { draftOf, emptyDraft, ruleOf } from "./draft.ts"

test.each([
  ["a tool", { allow: "edit_file", because: "Docs are free." }],
  ["agents and touches", { deny: "*", agent: ["dev", "tess"], touching: "write:data/**", because: "Not ours." }],
  ["several tools", { ask: ["write_file", "edit_file"], approvers: { count: 2, role: "lead" }, because: "Two agree." }],
  ["hosts", { allow: "web_fetch", touching: ["read:docs/**", "host:nodejs.org", "host:*.rs"], because: "Free." }],
  ["a result that is held", { ask: "read_file", release: "always", because: "Looked at." }],
  [
    "numbers and choices of the input",
    {
      allow: "pay",
      args: { "/amount": { above: 5, below: 100 }, "/currency": { oneOf: ["EUR", 7] }, "/to": "ann" },
      because: "Small.",
    },
  ],
  ["what the editor has no field for", { allow: "x", effect: ["read"], except: "read:.env", shadow: true }],
])("a rule with %s is the same after the editor", (_what, rule) => expect(ruleOf(draftOf(rule))).toEqual(rule))

test("empty fields are left out, and no tool means every tool", () => {
  expect(ruleOf(emptyDraft)).toEqual({ allow: "*" })
  expect(ruleOf({ ...emptyDraft, verdict: "deny", release: "always", count: "2" })).toEqual({ deny: "*" })
})
