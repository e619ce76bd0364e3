import type { RunContext } from "./context.ts"

/** How much streamed text is collected into the result; the rest is counted and marked. */
export const captureLimit = 10 * 1024 * 1024

type Stream = AsyncGenerator<unknown, unknown, unknown>

export function isStream(value: unknown): value is Stream {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value
}

/** Hands on each chunk as it comes. The result is what the generator returns, or else its chunks put together. */
export async function drain(stream: Stream, context: RunContext, isOver: () => boolean): Promise<unknown> {
  const chunks: unknown[] = []
  let length = 0
  let dropped = 0
  for (;;) {
    const { done, value } = await stream.next()
    if (done) return value === undefined ? joined(chunks, dropped) : value
    if (isOver()) {
      await stream.return(undefined)
      return undefined
    }
    context.emit(value)
    const size = typeof value === "string" ? value.length : (JSON.stringify(value) ?? "").length
    if (length + size <= captureLimit) chunks.push(value)
    else dropped += size
    length += size
  }
}

function joined(chunks: readonly unknown[], dropped: number): unknown {
  if (!chunks.every((chunk) => typeof chunk === "string")) return chunks
  return chunks.join("") + (dropped > 0 ? `\n[${dropped} more characters were not captured]` : "")
}
