import { expect, test } from "vitest"
import { readLinesFrom, readLastLines, type LineEnding } from "./read-part.ts"
import { openBench } from "./testing.ts"

const { signal } = new AbortController()
const narrow: LineEnding = { separator: Buffer.from("\n"), start: 0 }

test("of endless lines no more than the limit is kept", async () => {
  const { put, files } = openBench()
  put("a", "x".repeat(100_000))
  const file = await files.open("a")
  expect(await readLinesFrom(file, narrow, { offset: 1, limit: 5, most: 1000, signal, block: 64 })).toMatchObject({
    bytes: { length: 1000 },
    more: true,
    cut: true,
  })
  const tail = await readLastLines(file, narrow, { tail: 5, most: 1000, signal, block: 64 })
  expect(tail).toMatchObject({ more: true, cut: true })
  expect(tail.bytes.length).toBeLessThan(3000)
  await file.close()
})

test("an aborted reader ends, and the file can be closed", async () => {
  const { put, files } = openBench()
  put("a", "x\n".repeat(100_000))
  const file = await files.open("a")
  const stopped = AbortSignal.abort(new Error("stopped"))
  await expect(readLinesFrom(file, narrow, { offset: 9e9, limit: 1, most: 10, signal: stopped })).rejects.toThrow(
    "stopped",
  )
  await expect(readLastLines(file, narrow, { tail: 9e9, most: 1e9, signal: stopped })).rejects.toThrow("stopped")
  await file.close()
})
