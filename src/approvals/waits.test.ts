import { expect, test } from "vitest"
import type { AuditEntry } from "../core/audit-entry.ts"
import { isVote, voteText } from "../core/vote-text.ts"
import { waitedMs, waitsOf } from "./waits.ts"

type Kind = AuditEntry["kind"]
const vote = voteText(1, undefined)

test.each<
  [what: string, entries: [kind: Kind, at: number, text?: string][], ended: [string, number, boolean][], open?: string]
>([
  [
    "a call that nobody was asked about",
    [
      ["start", 1],
      ["end", 9],
    ],
    [],
  ],
  [
    "an approved call",
    [
      ["asked", 1],
      ["answered", 4],
      ["start", 5],
      ["end", 9],
    ],
    [["asked", 3, true]],
  ],
  [
    "two people who both agreed",
    [
      ["asked", 1],
      ["answered", 3, vote],
      ["answered", 8],
      ["start", 9],
    ],
    [["asked", 7, true]],
  ],
  [
    "one of two people",
    [
      ["asked", 1],
      ["answered", 3, vote],
    ],
    [],
    "asked",
  ],
  [
    "a note in between",
    [
      ["asked", 1],
      ["note", 2],
      ["answered", 4],
    ],
    [["asked", 3, true]],
  ],
  [
    "asked again after an edit",
    [
      ["asked", 1],
      ["answered", 3],
      ["asked", 4],
      ["answered", 9],
    ],
    [
      ["asked", 2, true],
      ["asked", 5, true],
    ],
  ],
  [
    "a released result",
    [
      ["start", 1],
      ["held", 2],
      ["released", 7],
      ["end", 8],
    ],
    [["held", 5, true]],
  ],
  [
    "approved and then released",
    [
      ["asked", 1],
      ["answered", 2],
      ["start", 2],
      ["held", 5],
      ["withheld", 9],
      ["end", 9],
    ],
    [
      ["asked", 1, true],
      ["held", 4, true],
    ],
  ],
  [
    "nobody answered",
    [
      ["asked", 1],
      ["end", 9],
    ],
    [["asked", 8, false]],
  ],
  [
    "a result that is held",
    [
      ["start", 1],
      ["held", 2],
    ],
    [],
    "held",
  ],
])("how long %s waited", (_what, entries, ended, open) => {
  const all = entries.map(([kind, at, text]) => ({ kind, at, text }))
  const waits = waitsOf(all)
  expect(waits.ended.map((wait) => [wait.for, wait.ms, wait.isAnswered])).toEqual(ended)
  expect(waits.open).toBe(open)
  expect(waitedMs(all)).toBe(ended.length === 0 ? undefined : ended.reduce((sum, [, ms]) => sum + ms, 0))
})

test("a vote is told apart from the answer that settles the call", () => {
  expect(isVote({ kind: "answered", text: voteText(2, "Looks right.") })).toBe(true)
  expect(isVote({ kind: "answered", text: "approved" })).toBe(false)
  expect(isVote({ kind: "note", text: vote })).toBe(false)
})
