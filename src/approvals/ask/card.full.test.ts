import fc from "fast-check"
import { expect, test } from "vitest"
import { width } from "../../interfaces/cli/terminal/width.ts"
import { cardLines } from "./card.ts"
import { agentText, samplePendingItem, hiddenCharactersIn, toolResult } from "./testing.ts"

const at = Date.UTC(2026, 0, 2, 12, 0)

/** An item in which everything that can be somebody else's text is. */
const anyItem = fc
  .record({
    kind: fc.constantFrom("call", "result", "question"),
    agentId: agentText,
    role: agentText,
    ancestors: fc.array(agentText, { maxLength: 2 }),
    tool: agentText,
    touches: fc.record({
      list: fc.array(fc.record({ kind: fc.constantFrom("read", "write", "delete", "database"), what: agentText }), {
        maxLength: 3,
      }),
      proved: fc.boolean(),
    }),
    description: agentText,
    input: fc.oneof(agentText, fc.dictionary(agentText, agentText), fc.constant(undefined)),
    preview: fc.option(agentText, { nil: undefined }),
    result: fc.record({ result: fc.oneof(agentText, fc.array(agentText)), success: fc.boolean(), error: agentText }),
    question: fc.record({
      question: agentText,
      options: fc.array(agentText, { maxLength: 3 }),
      multiple: fc.boolean(),
    }),
    reasons: fc.array(
      fc.record({
        check: fc.constant("guard"),
        source: agentText,
        code: fc.constant("test"),
        sentence: agentText,
        binding: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    revision: fc.integer({ min: 1, max: 3 }),
    editedBy: fc.option(agentText, { nil: undefined }),
    note: fc.option(agentText, { nil: undefined }),
    userId: fc.option(agentText, { nil: undefined }),
    votes: fc.array(fc.record({ by: agentText, at: fc.constant(at) }), { maxLength: 2 }),
    approvers: fc.array(fc.record({ role: agentText, count: fc.constant(1) }), { maxLength: 2 }),
    remember: fc.array(fc.record({ scope: fc.constant("tool-session" as const), words: agentText }), { maxLength: 2 }),
  })
  .map(({ result, ...more }) => samplePendingItem({ ...more, result: toolResult(result), until: at + 60_000 }))

const ours =
  /^(│ |│…| {4}|(spawned by:|acts for:|touches:|revision|edited by|it came back:|because:|input as JSON,|preview,|result as|error,|question,|options, one|The input was|… cut here:|must agree:|agreed so far:|a yes can be|Only in the whole|It waits)( |$))/u

test("law: whatever anybody writes, nothing hidden is shown, and no row but ours looks like one of ours", () => {
  fc.assert(
    fc.property(anyItem, fc.integer({ min: 20, max: 160 }), fc.boolean(), (item, columns, whole) => {
      const card = cardLines(item, { columns, whole, now: at })
      expect(card.filter((row) => hiddenCharactersIn(row).length > 0 || /[\t\n]/.test(row))).toEqual([])
      expect(card.filter((row) => width(row) > columns)).toEqual([])
      expect(card[0]).toMatch(/^(High|Medium|Low) risk( |:|$)/)
      // The first line has the risk and the title, the second who wants it.
      const second = card.findIndex((row, place) => place > 0 && !row.startsWith("    "))
      const rest = card.slice(second + 1)
      expect(rest.filter((row) => !ours.test(row))).toEqual([])
      const starting = (beginning: string) => rest.filter((row) => row.startsWith(beginning)).length
      expect(starting("because:")).toBe(item.reasons.length)
      expect(starting("must agree:")).toBe(item.approvers.length > 0 ? 1 : 0)
      expect(card[second]).toMatch(/^["\p{L}\p{N}_]/u)
      expect(card[second]).not.toMatch(/^(because|must agree|spawned by):/)
    }),
    { numRuns: 500 },
  )
})

test("law: a whole card shows every character of the text behind its bars, in order", () => {
  fc.assert(
    fc.property(agentText, fc.integer({ min: 20, max: 160 }), (preview, columns) => {
      const card = cardLines(samplePendingItem({ description: "", preview, input: undefined }), {
        columns,
        whole: true,
      })
      const rows = card.filter((row) => row.startsWith("│"))
      const text = rows.map((row, place) => (row.startsWith("│ ") && place > 0 ? "\n" : "") + row.slice(2)).join("")
      const plain = Array.from(preview.toWellFormed() === preview ? preview : "")
        .filter((character) => hiddenCharactersIn(character).length === 0 && !"\ufe0e\ufe0f".includes(character))
        .map((character) => (character === "\t" ? "→   " : character))
      let from = 0
      for (const character of plain) {
        from = text.indexOf(character, from)
        expect(from).not.toBe(-1)
        from += character.length
      }
      expect(text.split("\n").length).toBe(preview.split("\n").length)
    }),
    { numRuns: 200 },
  )
})
