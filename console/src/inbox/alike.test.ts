import { describe, expect, test } from "vitest"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { cards } from "../../dev/cards.ts"
import { commonFields, differingFields, fieldText, fitsLine, tablesOf } from "./alike.ts"

const fetches = cards(0).filter(({ tool }) => tool === "web_fetch")
const [one, other] = fetches
if (one === undefined || other === undefined) throw new Error("The mock has no fetches.")
const withInputs = (...inputs: readonly unknown[]) =>
  inputs.map((input, at): Card => ({ ...one, callId: `call-${at}`, input }))

test("the fields that differ and those that are the same are told apart", () => {
  const same = fetches.map((card) => ({ ...card, input: { ...(card.input as object), timeout: 5, tags: ["a"] } }))
  expect(differingFields(same)).toEqual(["url"])
  expect(commonFields(same)).toEqual(["timeout", "tags"])
  const [first] = same
  expect(first && fieldText(first, "tags")).toBe('["a"]')
})

test("a field that only some have differs, and inputs that are no objects have no fields", () => {
  expect(differingFields(withInputs({ a: 1 }, { a: 1, b: 2 }))).toEqual(["b"])
  expect(differingFields([{ ...one, input: "x" }])).toEqual([])
})

test.each([
  ["a few words fit", { path: "notes.md", content: "hello\n" }, true],
  ["a text of several lines does not fit", { path: "notes.md", content: "one\ntwo" }, false],
  ["a list of words fits", { paths: ["a.md", "b.md"] }, true],
  ["an object does not fit", { edits: [{ oldText: "a", newText: "b" }] }, false],
  ["a long text does not fit", { path: "notes.md", content: "x".repeat(201) }, false],
])("%s into a line", (_, input, fits) => expect(fitsLine({ ...one, input })).toBe(fits))

describe("a table", () => {
  const ids = (inputs: readonly unknown[]) =>
    tablesOf(withInputs(...inputs)).map((table) => table.map(({ callId }) => callId.slice(5)).join(" "))

  test("has cards that differ in two fields, and not in three", () => {
    const edit = (path: string, oldText: string, newText: string) => ({ newText, oldText, path })
    expect(ids([edit("a.ts", "x", "y"), edit("a.ts", "z", "w")])).toEqual(["0 1"])
    expect(ids([edit("a.ts", "x", "y"), edit("b.ts", "z", "w")])).toEqual(["0", "1"])
  })

  test("never comes to differ in more than two fields by one more card", () => {
    expect(
      ids([
        { a: 1, b: 1, c: 1 },
        { a: 2, b: 2, c: 1 },
        { a: 1, b: 1, c: 2 },
        { a: 3, b: 1, c: 1 },
      ]),
    ).toEqual(["0 1 3", "2"])
  })

  test("is the same whatever the order of its cards", () => {
    const all = withInputs({ a: 1, b: 1, c: 1 }, { a: 2, b: 2, c: 1 }, { a: 1, b: 1, c: 2 })
    expect(tablesOf(all.toReversed())).toEqual(tablesOf(all))
  })
})
