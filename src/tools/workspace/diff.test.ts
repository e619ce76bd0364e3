import { applyPatch } from "diff"
import fc from "fast-check"
import { expect, test } from "vitest"
import { unifiedDiff } from "./diff.ts"
import { applyRegions } from "./edits.ts"

const lines = (most: number) =>
  fc
    .tuple(
      fc.array(fc.constantFrom("a", "b", "c", "", "long line", "-x", "+y", "\\ z"), { maxLength: most }),
      fc.boolean(),
    )
    .map(([some, ended]) => some.join("\n") + (ended && some.length > 0 ? "\n" : ""))

test("law: applying a diff to the old text gives the new one", async () => {
  await fc.assert(
    fc.asyncProperty(lines(30), lines(30), async (before, after) => {
      const { text, additions, deletions } = await unifiedDiff("a.txt", before, after)
      expect(applyPatch(before, text)).toBe(after)
      const body = text.split("\n").slice(2)
      expect(additions - deletions).toBe(
        body.filter((line) => line.startsWith("+")).length - body.filter((line) => line.startsWith("-")).length,
      )
    }),
    { numRuns: 200 },
  )
})

test("law: the diff of some regions turns the old text into the new one", async () => {
  const edits = fc.array(fc.record({ skip: fc.nat(40), remove: fc.nat(12), text: lines(4) }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(lines(40), edits, async (before, given) => {
      let at = 0
      const regions = given.map(({ skip, remove, text }) => {
        const start = Math.min(before.length, at + skip)
        at = Math.min(before.length, start + remove)
        return { start, end: at, text }
      })
      const after = applyRegions(before, regions)
      expect(applyPatch(before, (await unifiedDiff("a.txt", before, after, regions)).text)).toBe(after)
    }),
    { numRuns: 500 },
  )
})

test("a new file starts from nothing, and an emptied one has no lines", async () => {
  expect((await unifiedDiff("a", undefined, "x\ny")).text).toBe(
    "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n",
  )
  expect((await unifiedDiff("a", "x\n", "")).text).toBe("--- a/a\n+++ b/a\n@@ -1,1 +0,0 @@\n-x\n")
})

test("CRLF is hidden if all lines have it, and shown otherwise", async () => {
  expect((await unifiedDiff("a", "x\r\ny\r\n", "x\r\nz\r\n")).text).toContain(" x\n-y\n+z\n")
  expect((await unifiedDiff("a", "x\r\ny\n", "x\r\nz\n")).text).toContain(" x\r\n-y\n+z\n")
  expect((await unifiedDiff("a", "x\r\n", "x\n")).text).toContain("-x\r\n+x\n")
})
