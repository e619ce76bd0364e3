import type { IncomingMessage } from "node:http"

/** Reads the whole body as text and hands it over once; undefined when it is longer than it may be. */
export function readBody(request: IncomingMessage, mostBytes: number, done: (text: string | undefined) => void): void {
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return done(undefined)
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let length = 0
  const take = (chunk: Buffer) => {
    length += chunk.length
    if (length > mostBytes) {
      stop()
      return done(undefined)
    }
    if (first === undefined) first = chunk
    else (more ??= [first]).push(chunk)
  }
  const end = () => done((more === undefined ? first : Buffer.concat(more, length))?.toString("utf8") ?? "")
  const stop = () => {
    request.off("data", take)
    request.off("end", end)
  }
  request.on("data", take)
  request.on("end", end)
}
