import { expect, test } from "vitest"
import { readDiff } from "./diff-lines.ts"

const texts = (diff: string) => readDiff(diff).map(({ left, right }) => [left?.text, right?.text])

test("a replaced line stands beside the line it replaces", () => {
  expect(texts("@@ -1,2 +1,2 @@\n-old\n+new\n same")).toEqual([
    ["old", "new"],
    ["same", "same"],
  ])
})

test("added lines have nothing beside them, and both sides count on", () => {
  const rows = readDiff("--- a/x\n+++ b/x\n@@ -1,1 +1,3 @@\n one\n+two\n+three\n four")
  expect(rows.map(({ left, right }) => [left?.number, right?.number])).toEqual([
    [1, 1],
    [undefined, 2],
    [undefined, 3],
    [2, 4],
  ])
})

test("a removal after an addition is a change of its own", () => {
  expect(texts("@@ -1,2 +1,2 @@\n-a\n+A\n-b\n+B")).toEqual([
    ["a", "A"],
    ["b", "B"],
  ])
})

test("lines that are left out between two parts are counted", () => {
  const rows = readDiff("@@ -1,1 +1,1 @@\n same\n@@ -40,1 +40,2 @@\n same\n+new")
  expect(rows.map(({ gap }) => gap)).toEqual([0, 38, 0])
})

test("what is not a diff has no rows", () => expect(readDiff("Binary files differ")).toEqual([]))
