import type { IncomingMessage } from "node:http"

/** Reads the whole body as text and passes it to `done`, or undefined when it is longer than `maxBytes`. */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (text: string | undefined) => void,
): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return done(undefined)
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let length = 0
  const onData = (chunk: Buffer) => {
    length += chunk.length
    if (length > maxBytes) {
      stop()
      return done(undefined)
    }
    if (first === undefined) first = chunk
    else (more ??= [first]).push(chunk)
  }
  const onEnd = () => done((more === undefined ? first : Buffer.concat(more, length))?.toString("utf8") ?? "")
  const stop = () => {
    request.off("data", onData)
    request.off("end", onEnd)
  }
  request.on("data", onData)
  request.on("end", onEnd)
}
