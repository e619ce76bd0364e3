import fc from "fast-check"
import { expect, test } from "vitest"
import { pageOf } from "./paging.ts"

const offers = (names: readonly string[]) =>
  [...new Set(names)].sort().map((name) => ({ server: "box", nameHere: name, upstreamName: name, item: {} }))

test("the pages of a list contain each item once, whatever the names are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), fc.integer({ min: 1, max: 5 }), (names, size) => {
      const all = offers(names.map((name) => name.toWellFormed()))
      const read: string[] = []
      for (let cursor: string | undefined; ;) {
        const { page, nextCursor } = pageOf(all, cursor, size)
        read.push(...page.map(({ nameHere }) => nameHere))
        if (nextCursor === undefined) break
        cursor = nextCursor
      }
      expect(read).toEqual(all.map(({ nameHere }) => nameHere))
    }),
    { numRuns: 100 },
  )
})

test("items removed between two pages do not shift the next page", () => {
  const all = offers(Array.from({ length: 1200 }, (_, n) => `n${String(n).padStart(4, "0")}`))
  const { page, nextCursor } = pageOf(all, undefined)
  expect(page).toHaveLength(500)
  const fewer = all.filter(({ nameHere }) => nameHere !== "n0499" && nameHere !== "n0001")
  expect(pageOf(fewer, nextCursor).page[0]?.nameHere).toBe("n0500")
})

test.each(["", "x", Buffer.from("before:a").toString("base64url")])(
  "a cursor that the server did not issue is refused: %j",
  (cursor) => {
    expect(() => pageOf([], cursor)).toThrow("not issued by this server")
  },
)
