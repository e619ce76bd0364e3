import { describe, expect, test } from "vitest"
import { cards } from "../../dev/cards.ts"
import { bandsOf, compareCards, countTabs, goneMs, neighbour, nextEntries, type Entry } from "./arrange.ts"

const all = cards(0)
const ids = (entries: readonly Entry[]) => entries.map(({ card }) => card.callId)
const now = { time: 0, still: false, shown: undefined }
const filled = nextEntries([], all, now).entries
const [first, second] = [...all].sort(compareCards)
if (first === undefined || second === undefined) throw new Error("The mock has no cards.")

describe("the list", () => {
  test("is sorted by risk, then by time left, whatever the server's order", () => {
    const entries = nextEntries([], all.toReversed(), now).entries
    expect(ids(entries)).toEqual(ids(filled))
    const bands = entries.map(({ card }) => card.risk.band)
    expect(bands.join(" ")).toMatch(/^(high ?)+(medium ?)+(low ?)+$/)
    for (const band of ["high", "medium", "low"] as const) {
      const times = entries.filter(({ card }) => card.risk.band === band).map(({ card }) => card.until)
      expect(times).toEqual(times.toSorted((one, other) => one - other))
    }
  })

  test("keeps a card that was answered in its place for five seconds", () => {
    const rest = all.filter(({ callId }) => callId !== first.callId)
    const at = nextEntries(filled, rest, { ...now, time: 1000 }).entries
    expect(ids(at)).toEqual(ids(filled))
    expect(at[0]?.goneAt).toBe(1000)
    expect(ids(nextEntries(at, rest, { ...now, time: 1000 + goneMs }).entries)).not.toContain(first.callId)
  })

  test("keeps the shown card as long as it is shown", () => {
    const rest = all.filter(({ callId }) => callId !== first.callId)
    const at = nextEntries(filled, rest, { ...now, time: 1000, shown: first.callId }).entries
    const later = nextEntries(at, rest, { ...now, time: 1000 + 10 * goneMs, shown: first.callId }).entries
    expect(ids(later)).toContain(first.callId)
  })

  test("does not move while the pointer is over it: new cards are counted and shown afterwards", () => {
    const without = nextEntries([], all.slice(2), now).entries
    const still = nextEntries(without, all, { ...now, still: true })
    expect(ids(still.entries)).toEqual(ids(without))
    expect(still.heldBack).toBe(2)
    const after = nextEntries(still.entries, all, now)
    expect(ids(after.entries)).toEqual(ids(filled))
    expect(after.heldBack).toBe(0)
  })

  test("shows first cards at once, wherever the pointer is", () => {
    expect(nextEntries([], all, { ...now, still: true }).heldBack).toBe(0)
  })
})

describe("lines", () => {
  test("have the calls of the same kind together, and count each of them", () => {
    const bands = bandsOf(filled, "all")
    const medium = bands.find(({ band }) => band === "medium")
    expect(medium?.rows.map(({ alike }) => alike.length)).toContain(4)
    expect(bands.reduce((sum, { count }) => sum + count, 0)).toBe(all.length)
  })

  test("have calls alone that differ in more fields than a table shows, also while one of them is gone", () => {
    const [fetched] = all.filter(({ tool }) => tool === "web_fetch")
    const edits = ["a", "b"].map((each) => ({
      ...fetched!,
      callId: each,
      tool: "edit_file",
      alike: "edit_file",
      input: { newText: `new ${each}`, oldText: `old ${each}`, path: `${each}.ts` },
    }))
    const rowsOf = (entries: readonly Entry[]) => bandsOf(entries, "all").flatMap((band) => band.rows)
    const before = nextEntries([], edits, now).entries
    expect(rowsOf(before).map(({ alike }) => alike.length)).toEqual([1, 1])
    expect(rowsOf(nextEntries(before, edits.slice(1), now).entries).map(({ gone }) => gone)).toEqual([true, false])
  })

  test("lose one of several without a line of its own", () => {
    const fetches = all.filter(({ tool }) => tool === "web_fetch")
    const before = nextEntries([], fetches, now).entries
    const rows = bandsOf(nextEntries(before, fetches.slice(1), now).entries, "all").flatMap((band) => band.rows)
    expect(rows.map(({ alike }) => alike.length)).toEqual([3])
  })

  test("have what has high risk alone, whatever its kind", () => {
    const twins = [first, { ...first, callId: "twin" }]
    const rows = bandsOf(nextEntries([], twins, now).entries, "all").flatMap((band) => band.rows)
    expect(first.risk.band).toBe("high")
    expect(rows).toHaveLength(2)
  })

  test("are filtered by tab", () => {
    expect(countTabs(filled)).toEqual({ all: 12, calls: 9, results: 1, questions: 2 })
    const questions = bandsOf(filled, "questions").flatMap(({ rows }) => rows)
    expect(questions.map(({ card }) => card.kind)).toEqual(["question", "question"])
  })

  test("lead to their neighbours, past those that are gone", () => {
    const rest = all.filter(({ callId }) => callId !== second.callId)
    const rows = bandsOf(nextEntries(filled, rest, now).entries, "all").flatMap((band) => band.rows)
    const third = neighbour(rows, first.callId, 1)
    expect(third?.card.callId).not.toBe(second.callId)
    expect(neighbour(rows, third?.card.callId, -1)?.card.callId).toBe(first.callId)
    expect(neighbour(rows, first.callId, -1)).toBeUndefined()
    expect(neighbour(rows, "unknown", 1)?.card.callId).toBe(first.callId)
  })
})
