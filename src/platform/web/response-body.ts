import { Readable, type Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { failure } from "../../core/ending.ts"

export interface ResponseBody {
  readonly bytes: Buffer
  /** The body was longer than `maxBytes`; the rest was not read. */
  readonly truncated: boolean
}

export interface ResponseBodyLimits {
  readonly maxBytes: number
  /** Called for each chunk that arrives. */
  onReceived(bytes: number): void
}

/** Reads a body up to `maxBytes` after decompression. Decompresses while reading, so that a zip bomb ends too. */
export async function readResponseBody(
  body: Readable,
  encodings: string | undefined,
  limits: ResponseBodyLimits,
): Promise<ResponseBody> {
  const streams: Readable[] = [body]
  const incoming = { bytes: 0 }
  let source: Readable = Readable.from(counted(body, incoming, limits))
  streams.push(source)
  for (const encoding of readEncodings(encodings)) {
    const { head, rest } = await peek(source)
    if (head === undefined) break
    const decompressor = decompressorFor(encoding, head)
    source = Readable.from(rest)
    streams.push(source, decompressor)
    source = forward(source, decompressor)
  }
  try {
    return await readUpTo(source, limits.maxBytes, () => incoming.bytes > limits.maxBytes)
  } finally {
    for (const stream of streams) stream.destroy()
  }
}

/** The encodings to undo, last applied first. */
function readEncodings(text: string | undefined): string[] {
  const names = (text ?? "").toLowerCase().split(",").map((name) => name.trim()) // prettier-ignore
  const applied = names.filter((name) => name !== "" && name !== "identity")
  if (applied.length <= 3 && applied.every((name) => known.includes(name))) return applied.toReversed()
  throw failure(
    "The response is compressed in a way that is not supported. Send the header accept-encoding: identity.",
    {
      toolCode: "bad_answer",
    },
  )
}

const known = ["gzip", "x-gzip", "deflate", "br"]

function decompressorFor(encoding: string, head: Buffer): Transform {
  if (encoding === "br") return createBrotliDecompress()
  if (encoding !== "deflate") return createGunzip()
  // Some servers send deflate without the zlib header.
  return (head[0]! & 0x0f) !== 8 ? createInflateRaw() : createInflate()
}

/** Stops once more than `maxBytes` have arrived: compressed data is not larger than its content. */
async function* counted(
  body: Readable,
  incoming: { bytes: number },
  limits: ResponseBodyLimits,
): AsyncGenerator<Buffer> {
  const { maxBytes, onReceived } = limits
  for await (const chunk of body as AsyncIterable<Buffer>) {
    incoming.bytes += chunk.length
    onReceived(chunk.length)
    yield chunk
    if (incoming.bytes > maxBytes) return
  }
}

async function peek(source: Readable): Promise<{ head: Buffer | undefined; rest: AsyncGenerator<Buffer> }> {
  const chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  const first = await chunks.next()
  return { head: first.done === true ? undefined : first.value, rest: after(first, chunks) }
}

async function* after(first: IteratorResult<Buffer>, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = first; next.done !== true; next = await chunks.next()) yield next.value
}

function forward(source: Readable, decompressor: Transform): Readable {
  source.on("error", (error) => decompressor.destroy(error))
  return source.pipe(decompressor)
}

async function readUpTo(source: Readable, maxBytes: number, wasCut: () => boolean): Promise<ResponseBody> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      parts.push(chunk)
      size += chunk.length
      if (size > maxBytes) return { bytes: Buffer.concat(parts, maxBytes), truncated: true }
    }
  } catch (error) {
    // A body that was cut ends in the middle of the compressed data.
    if (!wasCut() || (error as { code?: unknown }).code !== "Z_BUF_ERROR") throw error
  }
  return { bytes: Buffer.concat(parts, Math.min(size, maxBytes)), truncated: wasCut() }
}
