import type { ServerResponse } from "node:http"

/** An HTTP response: its body whole, or in parts as they come. */
export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | null
}

/** Sends a reply. Resolves when it is sent, or when nobody listens any more. */
export async function sendReply(response: ServerResponse, { status, headers, body }: HttpReply): Promise<void> {
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    if (response.destroyed) return
    const length = status === 204 ? {} : { "content-length": body === null ? 0 : Buffer.byteLength(body) }
    response.writeHead(status, { ...headers, ...length })
    response.end(body ?? "")
    return
  }
  if (!response.destroyed) response.writeHead(status, headers).flushHeaders()
  const parts = body[Symbol.asyncIterator]()
  const stop = () => void parts.return?.().catch(() => {})
  if (response.destroyed || response.req.method === "HEAD") {
    response.end()
    return stop()
  }
  response.once("close", stop)
  try {
    for (let part = await parts.next(); part.done !== true; part = await parts.next()) {
      if (response.destroyed) return stop()
      if (!response.write(part.value)) await untilDrained(response)
    }
    response.end()
  } catch {
    // The client must not take half a body for the whole one.
    response.destroy()
  } finally {
    response.off("close", stop)
  }
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done)
      response.off("close", done)
      resolve()
    }
    response.on("drain", done)
    response.on("close", done)
  })
}

/** Calls back when the client disconnects before it has its response. */
export function onDisconnect(response: ServerResponse, then: () => void): void {
  if (response.destroyed) return then()
  response.once("close", () => {
    if (!response.writableFinished) then()
  })
}

/** A signal that aborts when the client disconnects before it has its response. */
export function abortOnDisconnect(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  onDisconnect(response, () => controller.abort())
  return controller.signal
}
