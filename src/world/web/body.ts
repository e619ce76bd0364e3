import { Readable, type Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { failure } from "../../model/ending.ts"

export interface Body {
  readonly bytes: Buffer
  /** There was more than was wanted; the rest was not read. */
  readonly truncated: boolean
}

export interface BodyLimits {
  readonly maxBytes: number
  /** Is told of each piece that comes. */
  came(bytes: number): void
}

/** Reads an answer as far as `maxBytes`, unpacked as it comes, so that a small one that unpacks for ever ends too. */
export async function readBody(body: Readable, encodings: string | undefined, limits: BodyLimits): Promise<Body> {
  const streams: Readable[] = [body]
  const incoming = { bytes: 0 }
  let source: Readable = Readable.from(counted(body, incoming, limits))
  streams.push(source)
  for (const encoding of readEncodings(encodings)) {
    const { head, rest } = await peek(source)
    if (head === undefined) break
    const unpacker = unpackerFor(encoding, head)
    source = Readable.from(rest)
    streams.push(source, unpacker)
    source = forward(source, unpacker)
  }
  try {
    return await readUpTo(source, limits.maxBytes, () => incoming.bytes > limits.maxBytes)
  } finally {
    for (const stream of streams) stream.destroy()
  }
}

/** What the answer was packed with, the last first. */
function readEncodings(text: string | undefined): string[] {
  const names = (text ?? "").toLowerCase().split(",").map((name) => name.trim()) // prettier-ignore
  const packed = names.filter((name) => name !== "" && name !== "identity")
  if (packed.length <= 3 && packed.every((name) => known.includes(name))) return packed.toReversed()
  throw failure(
    "The answer is packed in a way that is not known here. Ask with the header accept-encoding: identity.",
    {
      toolCode: "bad_answer",
    },
  )
}

const known = ["gzip", "x-gzip", "deflate", "br"]

function unpackerFor(encoding: string, head: Buffer): Transform {
  if (encoding === "br") return createBrotliDecompress()
  if (encoding !== "deflate") return createGunzip()
  // Some servers mean the bare form.
  return (head[0]! & 0x0f) !== 8 ? createInflateRaw() : createInflate()
}

/** Stops when more has come in than may come out: what is packed is not larger than what it holds. */
async function* counted(body: Readable, incoming: { bytes: number }, limits: BodyLimits): AsyncGenerator<Buffer> {
  const { maxBytes, came } = limits
  for await (const chunk of body as AsyncIterable<Buffer>) {
    incoming.bytes += chunk.length
    came(chunk.length)
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

function forward(source: Readable, unpacker: Transform): Readable {
  source.on("error", (error) => unpacker.destroy(error))
  return source.pipe(unpacker)
}

async function readUpTo(source: Readable, maxBytes: number, wasCut: () => boolean): Promise<Body> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      parts.push(chunk)
      size += chunk.length
      if (size > maxBytes) return { bytes: Buffer.concat(parts, maxBytes), truncated: true }
    }
  } catch (error) {
    // What was cut ends in the middle of what it was packed with.
    if (!wasCut() || (error as { code?: unknown }).code !== "Z_BUF_ERROR") throw error
  }
  return { bytes: Buffer.concat(parts, Math.min(size, maxBytes)), truncated: wasCut() }
}
