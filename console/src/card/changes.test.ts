import { expect, test } from "vitest"
import { changedFields } from "./changes.ts"

test("only the fields that differ are shown, with what is new and what is gone", () => {
  expect(changedFields({ a: 1, b: "x", c: [1] }, { a: 1, b: "y", d: true })).toEqual([
    { name: "b", before: "x", after: "y" },
    { name: "c", before: "[1]", after: undefined },
    { name: "d", before: undefined, after: "true" },
  ])
})

test("inputs that are no objects are compared whole", () => {
  expect(changedFields("a", "b")).toEqual([{ name: "", before: "a", after: "b" }])
  expect(changedFields(["a"], ["a"])).toEqual([])
})
