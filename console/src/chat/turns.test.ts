import { expect, test } from "vitest"
import type { ShownTurnJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { joinTurns, withSpeakers } from "./turns.ts"

const message = (index: number, by = "ann", text = "") =>
  ({ kind: "message", index, at: 0, by, name: by, from: "person", text, begins: true, images: [] }) as ShownTurnJson
const answer = (index: number) =>
  ({
    kind: "answer",
    index,
    at: 0,
    model: "m",
    text: "",
    reasoning: "",
    finishReason: "stop",
    asked: index,
    interrupted: false,
    calls: [],
  }) as ShownTurnJson

const indexes = (turns: readonly ShownTurnJson[] | undefined) => turns?.map(({ index }) => index)

test("new turns are added, and what is read again replaces what was shown", () => {
  const joined = joinTurns([message(0), message(1, "ann", "old")], [message(1, "ann", "new"), message(2)])
  expect(indexes(joined)).toEqual([0, 1, 2])
  expect(joined?.[1]).toMatchObject({ text: "new" })
})

test("earlier turns are put before those that are shown", () => {
  expect(indexes(joinTurns([message(4), message(5)], [message(2), message(3)]))).toEqual([2, 3, 4, 5])
})

test("a gap between what was shown and what was read is noticed", () => {
  expect(joinTurns([message(0), message(1)], [message(5)])).toBeUndefined()
  expect(indexes(joinTurns([], [message(5)]))).toEqual([5])
})

test("several answers in a row have one name above them", () => {
  const turns = [message(0), answer(1), answer(2), message(3, "bob"), message(4, "bob"), answer(5)]
  expect(withSpeakers(turns).map(({ speaks }) => speaks)).toEqual([true, true, false, true, false, true])
})
