import { expect, test } from "vitest"
import { cards } from "../../dev/cards.ts"
import { differingFields, fieldText } from "./alike.ts"

const fetches = cards(0).filter(({ tool }) => tool === "web_fetch")

test("only the fields that differ are shown", () => {
  const same = fetches.map((card) => ({ ...card, input: { ...(card.input as object), timeout: 5, tags: ["a"] } }))
  expect(differingFields(same)).toEqual(["url"])
  const [first] = same
  expect(first && fieldText(first, "tags")).toBe('["a"]')
})

test("a field that only some have differs, and inputs that are no objects have no fields", () => {
  const [one, other] = fetches
  if (one === undefined || other === undefined) throw new Error("The mock has no fetches.")
  expect(
    differingFields([
      { ...one, input: { a: 1 } },
      { ...other, input: { a: 1, b: 2 } },
    ]),
  ).toEqual(["b"])
  expect(differingFields([{ ...one, input: "x" }])).toEqual([])
})
