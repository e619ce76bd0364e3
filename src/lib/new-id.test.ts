import { afterEach, describe, expect, it, vi } from "vitest"

/** A copy of its own: the real one must not remember clocks that were never right. */
const copy = "./new-id.ts?copy"
const { newId } = (await import(/* @vite-ignore */ copy)) as typeof import("./new-id.ts")

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string) => Number.parseInt(id.replace("-", "").slice(0, 12), 16)
const many = (count: number) => Array.from({ length: count }, newId)

afterEach(() => {
  vi.useRealTimers()
})

describe("a new id", () => {
  it("is a UUIDv7 with the time it was made", () => {
    const before = Date.now()
    const id = newId()
    expect(id).toMatch(shape)
    expect(timeOf(id)).toBeGreaterThanOrEqual(before)
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now() + 1000)
  })

  it("sorts later also when more than four thousand are made in one millisecond", () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    vi.setSystemTime(Date.now() + 2_000_000_000)
    const ids = many(20_000)
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("does not repeat its random half", () => {
    const tails = many(10_000).map((id) => id.slice(19))
    expect(new Set(tails).size).toBe(tails.length)
  })
})
