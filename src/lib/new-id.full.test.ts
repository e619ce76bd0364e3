import * as fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"

/** A copy of its own: the real one must not remember clocks that were never right. */
const copy = "./new-id.ts?copy"
const { newId } = (await import(/* @vite-ignore */ copy)) as typeof import("./new-id.ts")

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const many = (count: number) => Array.from({ length: count }, newId)

afterEach(() => {
  vi.useRealTimers()
})

describe("a new id", () => {
  it("is never given twice, and ids made later sort later", () => {
    const ids = many(100_000)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => shape.test(id))).toBe(true)
    expect(ids.every((id, index) => index === 0 || ids[index - 1]! < id)).toBe(true)
  })

  it("sorts later whatever the clock does: standing still, jumping ahead or going back", () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const start = Date.now() + 1_000_000_000
    const steps = fc.array(fc.tuple(fc.integer({ min: -100_000, max: 100_000 }), fc.integer({ min: 1, max: 50 })))
    let last = newId()
    const law = fc.property(steps, (moves) => {
      for (const [by, count] of moves) {
        vi.setSystemTime(start + by)
        for (const id of many(count)) {
          expect(id > last).toBe(true)
          expect(id).toMatch(shape)
          last = id
        }
      }
    })
    fc.assert(law, { numRuns: 100 })
  })
})
