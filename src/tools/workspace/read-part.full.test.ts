import fc from "fast-check"
import { expect, test } from "vitest"
import { readLinesFrom, readLastLines, type LineEnding } from "./read-part.ts"
import { openBench } from "./testing.ts"

const { signal } = new AbortController()
const narrow: LineEnding = { separator: Buffer.from("\n"), start: 0 }
const wide: LineEnding = { separator: Buffer.from("\n", "utf16le"), start: 2 }

/** Lines in which the two bytes of a wide line feed also occur across two characters. */
const lines = fc.array(fc.string({ unit: fc.constantFrom("a", "\u0a00", "\u0a0a", "ਗ", "b"), maxLength: 9 }), {
  maxLength: 25,
})
const blocks = fc.constantFrom(4, 8, 12, 64)

test("law: for any block size, the lines from an offset are right", async () => {
  const { put, files } = openBench()
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), blocks,
      async (some, closed, isWide, offset, limit, block) => {
        const text = some.join("\n") + (closed && some.length > 0 ? "\n" : "")
        put("a", isWide ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text))
        const file = await files.open("a")
        const part = await readLinesFrom(file, isWide ? wide : narrow, { offset, limit, most: 10_000, signal, block })
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

test("law: for any block size, the last lines are right", async () => {
  const { put, files } = openBench()
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 30 }), blocks, async (some, closed, isWide, tail, block) => {
      const text = some.join("\n") + (closed && some.length > 0 ? "\n" : "")
      put("a", isWide ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text))
      const file = await files.open("a")
      const part = await readLastLines(file, isWide ? wide : narrow, { tail, most: 10_000, signal, block })
      await file.close()
      const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect(part.bytes.toString(isWide ? "utf16le" : "utf8")).toBe(all.slice(-tail).join(""))
      expect(part).toMatchObject({ lines: Math.min(tail, all.length), more: all.length > tail, cut: false })
    }),
    { numRuns: 300 },
  ) // prettier-ignore
})
