import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApp, tool } from "../../testing/test-app.ts"
import type { RunContext } from "./run-context.ts"
import { captureLimit, drain, isStream } from "./stream.ts"

async function* chunksOf(chunks: readonly unknown[], closed?: () => void) {
  try {
    yield* chunks
  } finally {
    closed?.()
  }
}

/** Drains and tells what was handed on and what came of it. */
async function drained(stream: AsyncGenerator<unknown, unknown>, isOver = () => false) {
  const seen: unknown[] = []
  const context = { emit: (chunk: unknown) => void seen.push(chunk), markStreamed() {} } as unknown as RunContext
  return { seen, result: await drain(stream, context, isOver) }
}

const piece = "x".repeat(1024 * 1024)

test("only an async generator is a stream", () => {
  const asyncOnly = { [Symbol.asyncIterator]: () => chunksOf([]) }
  expect([chunksOf([]), asyncOnly, [1], "text", null, undefined, Promise.resolve()].map(isStream)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ])
})

test("law: every chunk is handed on in order, and text put together is the result", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string()), async (chunks) => {
      const { seen, result } = await drained(chunksOf(chunks))
      expect(seen).toEqual(chunks)
      expect(result).toBe(chunks.join(""))
    }),
  )
})

test("chunks of which one is no text are the result as a list", async () => {
  expect((await drained(chunksOf(["a", { n: 1 }, null]))).result).toEqual(["a", { n: 1 }, null])
})

test("many chunks over ten megabytes are all handed on, but the result is cut and marked", async () => {
  const system = await openTestApp()
  let seen = 0
  system.on("TOOL_CALL_OUTPUT", ({ chunk }) => (seen += String(chunk).length))
  system.registry.register(tool({ execute: () => chunksOf(Array.from({ length: 12 }, () => piece)) }))
  const { result } = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(seen).toBe(12 * piece.length)
  const mark = `\n[${2 * piece.length} more characters were not captured]`
  expect(String(result).length).toBe(captureLimit + mark.length)
  expect(String(result).slice(captureLimit)).toBe(mark)
})

test("exactly ten megabytes are not cut, one character more is", async () => {
  const whole = Array.from({ length: 10 }, () => piece)
  expect(String((await drained(chunksOf(whole))).result).length).toBe(captureLimit)
  const { result } = await drained(chunksOf([...whole, "y"]))
  expect(String(result).slice(captureLimit)).toBe("\n[1 more characters were not captured]")
})

test("what comes after a chunk that did not fit is not captured either: a result has no holes", async () => {
  const { result } = await drained(chunksOf(["first", piece.repeat(10), "last"]))
  expect(result).toBe(`first\n[${10 * piece.length + 4} more characters were not captured]`)
})

test("a list of chunks that is cut says so in its last place", async () => {
  const { result } = await drained(chunksOf([{ n: 1 }, { text: piece.repeat(10) }]))
  expect(result).toEqual([{ n: 1 }, expect.stringMatching(/^\[10485771 more characters were not captured\]$/)])
})

test("a generator whose call is over is closed at its next chunk", async () => {
  let closed = false
  const { seen } = await drained(
    chunksOf(["late"], () => (closed = true)),
    () => true,
  )
  expect(seen).toEqual([])
  expect(closed).toBe(true)
})

test("a chunk that is no JSON ends the call, and the generator is closed", async () => {
  const system = await openTestApp()
  let closed = false
  system.registry.register(tool({ execute: () => chunksOf([1n, "more"], () => (closed = true)) }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ code: "tool_failed" })
  expect(closed).toBe(true)
})
