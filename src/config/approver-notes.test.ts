import { expect, test } from "vitest"
import type { Approvers } from "../core/rule.ts"
import { approverNotes } from "./approver-notes.ts"

const stored = { madeBy: "person", hasToken: true }
const people = [
  { id: "ann", roles: ["lead"], ...stored },
  { id: "bob", roles: ["lead", "security"], ...stored },
]

function notesFor(approvers: Approvers, more: Partial<Parameters<typeof approverNotes>[0]> = {}) {
  const rules = [{ path: ["rules", 0], verdict: "ask" as const, approvers }]
  return approverNotes({ rules, people, configured: [], login: "here", ...more })
}

test.each<[string, Approvers, readonly [string, string][]]>([
  ["a role that enough people have", { role: "lead", count: 2 }, []],
  [
    "a misspelt role",
    { role: "leed", count: 1 },
    [
      [
        "rules.0.approvers.role",
        "No person has the role 'leed', so calls that this rule asks for can only expire. Did you mean 'lead'?",
      ],
    ],
  ],
  [
    "a role nobody has",
    { role: "auditor", count: 1 },
    [
      [
        "rules.0.approvers.role",
        "No person has the role 'auditor', so calls that this rule asks for can only expire. 'qm people create <id> --roles auditor' adds one.",
      ],
    ],
  ],
  [
    "too few people with the role",
    { role: "security", count: 2 },
    [
      [
        "rules.0.approvers",
        "The rule needs 2 people with the role 'security', and there is 1, so calls that it asks for can only expire. 'qm people create <id> --roles security' adds one.",
      ],
    ],
  ],
  ["as many as there are, with the user of this machine", { count: 3 }, []],
  [
    "more people than there are",
    { count: 4 },
    [
      [
        "rules.0.approvers",
        "The rule needs 4 people, and there are 3, so calls that it asks for can only expire. 'qm people create <id>' adds one.",
      ],
    ],
  ],
])("approvers with %s", (_, approvers, expected) => {
  expect(notesFor(approvers).map(({ path, sentence }) => [path.join("."), sentence])).toEqual(expected)
})

test("a rule that does not ask needs nobody", () => {
  const rules = [{ path: ["rules", 0], verdict: "deny" as const, approvers: { role: "leed", count: 1 } }]
  expect(notesFor({ count: 1 }, { rules })).toEqual([])
})

test("a person of the configuration whom a rule needs must be able to prove who they are", () => {
  const cleo = { id: "cleo", roles: ["lead"], madeBy: "configuration", hasToken: false }
  const given = { people: [...people, cleo], configured: ["dan", "cleo"] }
  expect(notesFor({ role: "lead", count: 1 }, given)).toEqual([
    { path: ["org", "people", 1], sentence: expect.stringContaining("'qm people token cleo' makes a token") },
  ])
  expect(notesFor({ role: "lead", count: 1 }, { ...given, login: "cleo" })).toEqual([])
  expect(notesFor({ role: "security", count: 1 }, given)).toEqual([])
})
