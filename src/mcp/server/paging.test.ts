import fc from "fast-check"
import { expect, test } from "vitest"
import { pageOf } from "./paging.ts"

const offers = (names: readonly string[]) =>
  [...new Set(names)].sort().map((shown) => ({ server: "box", shown, own: shown, item: {} }))

test("the pages of a list are the list, each thing once, whatever its names are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), fc.integer({ min: 1, max: 5 }), (names, size) => {
      const all = offers(names.map((name) => name.toWellFormed()))
      const read: string[] = []
      for (let cursor: string | undefined; ;) {
        const { page, nextCursor } = pageOf(all, cursor, size)
        read.push(...page.map(({ shown }) => shown))
        if (nextCursor === undefined) break
        cursor = nextCursor
      }
      expect(read).toEqual(all.map(({ shown }) => shown))
    }),
    { numRuns: 100 },
  )
})

test("what goes or comes between two pages shifts nothing", () => {
  const all = offers(Array.from({ length: 1200 }, (_, n) => `n${String(n).padStart(4, "0")}`))
  const { page, nextCursor } = pageOf(all, undefined)
  expect(page).toHaveLength(500)
  const fewer = all.filter(({ shown }) => shown !== "n0499" && shown !== "n0001")
  expect(pageOf(fewer, nextCursor).page[0]?.shown).toBe("n0500")
})

test.each(["", "x", Buffer.from("before:a").toString("base64url")])(
  "a cursor that is none of ours is refused: %j",
  (cursor) => {
    expect(() => pageOf([], cursor)).toThrow("none of ours")
  },
)
