import * as real from "diff"
import { beforeEach, expect, test, vi } from "vitest"
import { diffPreview, unifiedDiff } from "./diff.ts"
import { openBench } from "./testing.ts"

/** The size of all texts that were compared line by line. */
let compared = 0

// Counts the work of the real function, because time depends on the machine.
vi.mock("diff", async (original) => {
  const whole = await original<typeof real>()
  const structuredPatch = (...given: Parameters<typeof real.structuredPatch>) => {
    compared += given[2].length + given[3].length
    return whole.structuredPatch(...given)
  }
  return { ...whole, structuredPatch }
})

beforeEach(() => {
  compared = 0
})

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("")

test("an edit of a huge file compares only the lines around its changes, however far apart they are", async () => {
  const { fresh, call } = openBench()
  const path = fresh(lines(200_000))
  const edits = [
    { startLine: 2, newText: "second" },
    { oldText: "line 199999\n", newText: "" },
  ]
  const { diff, additions, deletions } = await call("edit_file", { path, edits, preview: true })
  expect({ diff, additions, deletions }).toEqual({
    diff: `--- a/${path}
+++ b/${path}
@@ -1,5 +1,5 @@
 line 1
-line 2
+second
 line 3
 line 4
 line 5
@@ -199996,5 +199996,4 @@
 line 199996
 line 199997
 line 199998
-line 199999
 line 200000
`,
    additions: 1,
    deletions: 2,
  })
  expect(compared).toBeGreaterThan(0)
  expect(compared).toBeLessThan(500)
})

test("a rewritten huge file is compared from its first to its last different line", async () => {
  const before = lines(200_000)
  const { text } = await unifiedDiff("a", before, before.replace("line 100000\n", "other\n"))
  expect(text).toContain("@@ -99997,7 +99997,7 @@\n line 99997\n")
  expect(text).toContain("-line 100000\n+other\n")
  expect(compared).toBeLessThan(500)
})

test.each([
  ["many lines", lines(60_000), lines(60_000).replaceAll("line", "row"), 60_000, 60_000],
  ["long lines", "x", "y".repeat(2_000_000), 1, 1],
  ["a new file", undefined, lines(60_000), 0, 60_000],
])("a difference that is too large is counted instead of shown: %s", async (_, before, after, deletions, additions) => {
  const diff = await unifiedDiff("a", before, after)
  expect(diff).toEqual({
    text: `--- ${before === undefined ? "/dev/null" : "a/a"}\n+++ b/a\nThe difference is too large to show: ${deletions} lines become ${additions} lines.\n`,
    additions,
    deletions,
  })
  expect(compared).toBe(0)
  expect(diffPreview("a", diff, 1)).toMatchObject({ files: [{ added: additions, removed: deletions }] })
})

test("more replacements than can be made without blocking are refused, and the file stays", async () => {
  const { fresh, call } = openBench()
  const path = fresh("a\n".repeat(100_001))
  expect(await call("edit_file", { path, oldText: "a", newText: "b", replaceAll: true })).toEqual({
    error: `The edit would replace 100001 places in ${path}, and at most 100000 can be replaced at once. Change it with a command instead.`,
    toolCode: "too_many_matches",
  })
  const fine = fresh("a\n".repeat(100_000))
  const { replacements, size } = await call("edit_file", { path: fine, oldText: "a", newText: "bc", replaceAll: true })
  expect({ replacements, size }).toEqual({ replacements: 100_000, size: 300_000 })
})
