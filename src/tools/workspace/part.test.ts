import fc from "fast-check"
import { expect, test } from "vitest"
import { readFrom, readTail, type LineEnds } from "./part.ts"
import { openBench } from "./testing.ts"

const { signal } = new AbortController()
const narrow: LineEnds = { mark: Buffer.from("\n"), start: 0 }
const wide: LineEnds = { mark: Buffer.from("\n", "utf16le"), start: 2 }

/** Lines in which the two bytes of a wide line feed also stand across two characters. */
const lines = fc.array(fc.string({ unit: fc.constantFrom("a", "\u0a00", "\u0a0a", "ਗ", "b"), maxLength: 9 }), {
  maxLength: 25,
})
const blocks = fc.constantFrom(4, 8, 12, 64)

test("law: whatever the blocks, the lines from an offset are those that are there", async () => {
  const { put, files } = openBench()
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), blocks,
      async (some, closed, isWide, offset, limit, block) => {
        const text = some.join("\n") + (closed && some.length > 0 ? "\n" : "")
        put("a", isWide ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text))
        const file = await files.open("a")
        const part = await readFrom(file, isWide ? wide : narrow, { offset, limit, most: 10_000, signal, block })
        await file.close()
        const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
        const wanted = all.slice(offset - 1, offset - 1 + limit)
        expect(part.bytes.toString(isWide ? "utf16le" : "utf8")).toBe(wanted.join(""))
        expect(part).toMatchObject({ startLine: offset, lines: wanted.length, more: all.length > offset - 1 + limit, cut: false })
        if (!part.more) expect(part.totalLines).toBe(all.length)
      }),
    { numRuns: 300 },
  ) // prettier-ignore
})

test("law: whatever the blocks, the last lines are those that are there", async () => {
  const { put, files } = openBench()
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 30 }), blocks, async (some, closed, isWide, tail, block) => {
      const text = some.join("\n") + (closed && some.length > 0 ? "\n" : "")
      put("a", isWide ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text))
      const file = await files.open("a")
      const part = await readTail(file, isWide ? wide : narrow, { tail, most: 10_000, signal, block })
      await file.close()
      const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect(part.bytes.toString(isWide ? "utf16le" : "utf8")).toBe(all.slice(-tail).join(""))
      expect(part).toMatchObject({ lines: Math.min(tail, all.length), more: all.length > tail, cut: false })
    }),
    { numRuns: 300 },
  ) // prettier-ignore
})

test("no more than asked for is kept of lines that never end", async () => {
  const { put, files } = openBench()
  put("a", "x".repeat(100_000))
  const file = await files.open("a")
  expect(await readFrom(file, narrow, { offset: 1, limit: 5, most: 1000, signal, block: 64 })).toMatchObject({
    bytes: { length: 1000 },
    more: true,
    cut: true,
  })
  const tail = await readTail(file, narrow, { tail: 5, most: 1000, signal, block: 64 })
  expect(tail).toMatchObject({ more: true, cut: true })
  expect(tail.bytes.length).toBeLessThan(3000)
  await file.close()
})

test("a reader that is stopped ends and leaves the file to be closed", async () => {
  const { put, files } = openBench()
  put("a", "x\n".repeat(100_000))
  const file = await files.open("a")
  const stopped = AbortSignal.abort(new Error("stopped"))
  await expect(readFrom(file, narrow, { offset: 9e9, limit: 1, most: 10, signal: stopped })).rejects.toThrow("stopped")
  await expect(readTail(file, narrow, { tail: 9e9, most: 1e9, signal: stopped })).rejects.toThrow("stopped")
  await file.close()
})
