import type { RunContext } from "./run-context.ts"

/** Limit of characters of streamed text in the result. The rest is counted and marked as cut off. */
export const captureLimit = 10 * 1024 * 1024

type Stream = AsyncGenerator<unknown, unknown, unknown>

export function isStream(value: unknown): value is Stream {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value
}

/**
 * Emits each chunk as it comes. The result is what the generator returns, or else its chunks put together. The generator
 * is closed in any case.
 */
export async function drain(stream: Stream, context: RunContext, isOver: () => boolean): Promise<unknown> {
  const chunks: unknown[] = []
  let length = 0
  let dropped = 0
  try {
    for (let pausedAt = performance.now(); ;) {
      const { done, value } = await stream.next()
      // A generator that never waits would block every timer.
      if (performance.now() - pausedAt > 10) {
        await new Promise((resolve) => setImmediate(resolve))
        pausedAt = performance.now()
      }
      if (done && value !== undefined) return value
      if (done) {
        context.markStreamed()
        return joined(chunks, dropped)
      }
      if (isOver()) return undefined
      const size = typeof value === "string" ? value.length : (JSON.stringify(value) ?? "").length
      context.emit(value)
      if (length + size <= captureLimit) chunks.push(value)
      else dropped += size
      length += size
    }
  } finally {
    await stream.return?.(undefined)
  }
}

function joined(chunks: readonly unknown[], dropped: number): unknown {
  const mark = dropped > 0 ? `[${dropped} more characters were not captured]` : undefined
  if (!chunks.every((chunk) => typeof chunk === "string")) return mark === undefined ? chunks : [...chunks, mark]
  return chunks.join("") + (mark === undefined ? "" : `\n${mark}`)
}
