import fc from "fast-check"
import { expect, test } from "vitest"
import { further, withPiece, type Written } from "./written.ts"

const piece = (offset: number, text: string, more = {}) =>
  ({ conversationId: "c", turn: 3, attempt: 1, interrupted: false, part: "text", offset, text, ...more }) as const

test("pieces in order become the text", () => {
  const first = withPiece(undefined, piece(0, "Hello"))
  expect(withPiece(first, piece(5, " there"))).toMatchObject({ turn: 3, text: "Hello there", reasoning: "" })
})

test("a missing piece is noticed, and one that comes again takes the place of what stands there", () => {
  const now = withPiece(undefined, piece(0, "Hello"))
  expect(withPiece(now, piece(9, "x"))).toBeUndefined()
  expect(withPiece(now, piece(0, "Hello"))).toEqual(now)
  expect(withPiece(now, piece(3, "lo, you"))).toMatchObject({ text: "Hello, you" })
})

test("a new attempt begins anew, and what came of an earlier one does not count", () => {
  const now = withPiece(undefined, piece(0, "Hello"))
  const again = withPiece(now, piece(0, "", { attempt: 2, interrupted: true }))
  expect(again).toMatchObject({ attempt: 2, interrupted: true, text: "" })
  expect(withPiece(again, piece(5, " there"))).toEqual(again)
})

test("law: however the pieces are cut and repeated, the text is whole", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat({ max: 40 })), (text, cuts) => {
      let now: Written | undefined
      for (const cut of [...cuts, text.length]) {
        const from = Math.min(now?.text.length ?? 0, cut)
        now = withPiece(now, piece(from, text.slice(from, Math.max(cut, from))))
      }
      expect(now?.text).toBe(text)
      expect(further(now, undefined)).toBe(now)
    }),
  )
})
